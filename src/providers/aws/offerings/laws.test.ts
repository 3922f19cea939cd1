import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import provider from '../index.ts';
import { openScene, REGION } from '../testing.ts';

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  throttled: { kind: 'throttle' },
  denied: { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<SourceWorld> {
  const scene = openScene({ behaviour: { largestPage: 1, emptyPages: 1 }, fillRegion: () => {} });
  const { fake, lines, during } = scene;
  const { aws_auto: kind } = provider.sources;
  const context = scene.contextFor('cluster1');
  const action = 'DescribeInstanceTypeOfferings';
  return {
    open: () => kind.open(kind.config.parse({ poolPrefix: 'aws', template: { region: REGION } }), context),
    async write(name) {
      fake.region(REGION).offerings.set(name, [`${REGION}a`]);
      return name;
    },
    remove: async (name) => void fake.region(REGION).offerings.delete(name),
    during,
    logged: () => lines.join('\n'),
    breakListing: async () => void fake.failureRules.add({ action, after: 2, times: 1_000, what: { kind: 'garbage' } }),
    hang: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    fail: async (kind) =>
      void fake.failureRules.add({ action, times: kind === 'denied' ? 1 : 4, what: FAILURES[kind] as CallFailure }),
    close: async () => {},
  };
}

const NOT_WRITTEN = 'its documents are made here, not written there';

testSource('what AWS offers', {
  kind: provider.sources.aws_auto,
  openWorld,
  many: 25,
  faults: Object.keys(FAILURES) as FaultKind[],
  excuses: { 'lists all': NOT_WRITTEN, versions: NOT_WRITTEN, 'bad alone': NOT_WRITTEN },
});

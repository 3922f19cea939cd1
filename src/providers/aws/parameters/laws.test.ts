import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testSource } from '../../../conformance/source.ts';
import type { SourceWorld } from '../../../conformance/source-world.ts';
import provider from '../index.ts';
import { openScene, REGION } from '../testing.ts';
import { dropParameter, putParameter } from './testing.ts';

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  throttled: { kind: 'throttle' },
  denied: {
    kind: 'error',
    code: 'AccessDeniedException',
    message: 'User: x is not authorized to perform: ssm:GetParametersByPath on resource: y',
  },
  unauthenticated: { kind: 'error', code: 'ExpiredTokenException', message: 'The security token has expired' },
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<SourceWorld> {
  const scene = openScene({ behaviour: { largestPage: 1, emptyPages: 1 } });
  const { fake, lines, during } = scene;
  const { aws } = provider.sources;
  const keyOf = (name: string): string => `/velda/pools/team/${name}`;
  const context = scene.contextFor('cluster1');
  return {
    open: () => aws.open(aws.config.parse({ region: REGION, configPrefix: '/velda/pools' }), context),
    async write(name, text) {
      putParameter(fake, keyOf(name), text);
      return keyOf(name);
    },
    remove: async (name) => dropParameter(fake, keyOf(name)),
    during,
    logged: () => lines.join('\n'),
    async spoil(name) {
      fake.principals.deny('kms:Decrypt');
      putParameter(fake, keyOf(name), 'nobody reads this', 'SecureString');
    },
    breakListing: async () =>
      void fake.failureRules.add({ action: 'GetParametersByPath', after: 2, times: 1_000, what: { kind: 'garbage' } }),
    hang: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    // As often as one page is tried.
    fail: async (kind) =>
      void fake.failureRules.add({
        action: 'GetParametersByPath',
        times: fails(kind),
        what: FAILURES[kind] as CallFailure,
      }),
    close: async () => {},
  };
}

const fails = (kind: FaultKind): number => (kind === 'throttled' || kind === 'unavailable' ? 4 : 1);

testSource('parameters of AWS', {
  kind: provider.sources.aws,
  openWorld,
  many: 25,
  faults: Object.keys(FAILURES) as FaultKind[],
});

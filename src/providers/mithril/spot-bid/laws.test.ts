import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { stateAt } from '../fake/bid.ts';
import { EXISTING, H100, LATER_PAGE, openBackend, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const LAG_MS = 3_000;
const bad = (message: string, status = 400): CallFailure => ({ kind: 'error', code: 'bad_request', message, status });

const FAILURES: Failures = {
  exhausted: bad('Insufficient capacity in this region'),
  quota: bad('Quota exceeded for spot instances in this project'),
  invalid: bad('memory_gb is not supported', 422),
  throttled: { kind: 'throttle' },
  denied: { kind: 'error', code: 'forbidden', status: 403 },
  unauthenticated: { kind: 'error', code: 'unauthorized', status: 401 },
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, fake } = scene;
  const quick = { ...H100, allocationTimeout: '60s' };
  return {
    ...troubleIn(scene, { creation: 'create', laterPage: LATER_PAGE, failures: FAILURES }),
    open: (cluster) => openBackend(scene, quick, scene.contextFor(cluster)),
    openParking: (cluster) => openBackend(scene, { ...quick, maxSuspendedBids: 2 }, scene.contextFor(cluster)),
    existing: async () =>
      fake.bids.filter((one) => EXISTING.includes(stateAt(one, clock.now()))).map(({ name }) => name),
    hideFromListings() {
      fake.behaviour.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate: () => fake.refuseLate(1),
  };
}

testBackend('mithril_spot_bid', {
  kind: provider.backends.mithril_spot_bid,
  openWorld,
  many: 4,
  findsNames: false,
  faults: Object.keys(FAILURES) as FaultKind[],
});

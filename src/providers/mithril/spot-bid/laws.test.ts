import type { FaultKind } from '#core/fault.ts';
import type { Mischance } from '#fakes/mishaps.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { stateAt } from '../fake/bid.ts';
import { EXISTING, H100, LATER_PAGE, openBackend, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const LAG_MS = 3_000;
const bad = (message: string, status = 400): Mischance => ({ kind: 'error', code: 'bad_request', message, status });

const FAILURES: Readonly<Partial<Record<FaultKind, Mischance>>> = {
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
  const { clock, fake, lines, during } = scene;
  const quick = { ...H100, allocationTimeout: '60s' };
  return {
    open: (cluster) => openBackend(scene, quick, scene.contextFor(cluster)),
    openParking: (cluster) => openBackend(scene, { ...quick, maxSuspendedBids: 2 }, scene.contextFor(cluster)),
    existing: async () =>
      fake.bids.filter((one) => EXISTING.includes(stateAt(one, clock.now()))).map(({ name }) => name),
    during,
    settle: () => clock.advance(30_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.mishaps.add({ action: 'create', what: { kind: 'lost reply' } }),
    breakListing: () => void fake.mishaps.add({ ...LATER_PAGE, times: 1_000 }),
    hang: () => void fake.mishaps.add({ times: 1_000, what: { kind: 'hang' } }),
    failLate: () => fake.refuseLate(1),
    fail: (kind) => void fake.mishaps.add({ action: 'create', what: FAILURES[kind] as Mischance }),
    close: async () => {},
  };
}

testBackend('mithril_spot_bid', {
  kind: provider.backends.mithril_spot_bid,
  openWorld,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
});

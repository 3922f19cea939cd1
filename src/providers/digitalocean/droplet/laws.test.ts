import type { FaultKind } from '#core/fault.ts';
import type { Mischance } from '#fakes/mishaps.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { stateAt } from '../fake/droplet.ts';
import { LATER_PAGE, openBackend, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const LAG_MS = 3_000;
const unprocessable = (message: string): Mischance => ({
  kind: 'error',
  code: 'unprocessable_entity',
  message,
  status: 422,
});

const FAILURES: Readonly<Partial<Record<FaultKind, Mischance>>> = {
  exhausted: unprocessable('Size is not available in this region.'),
  quota: unprocessable('creating this/these droplet(s) will exceed your droplet limit'),
  invalid: unprocessable('You specified an invalid image for Droplet creation.'),
  throttled: { kind: 'throttle' },
  denied: { kind: 'error', code: 'forbidden', status: 403 },
  unauthenticated: { kind: 'error', code: 'unauthorized', status: 401 },
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, fake, lines, during } = scene;
  return {
    open: (cluster) => openBackend(scene, undefined, scene.contextFor(cluster)),
    existing: async () =>
      fake.droplets.filter((one) => ['new', 'active'].includes(stateAt(one, clock.now()))).map(({ name }) => name),
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

testBackend('digitalocean_droplet', {
  kind: provider.backends.digitalocean_droplet,
  openWorld,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
});

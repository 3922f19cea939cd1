import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { stateAt } from '../fake/droplet.ts';
import { LATER_PAGE, openBackend, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const LAG_MS = 3_000;
const unprocessable = (message: string): CallFailure => ({
  kind: 'error',
  code: 'unprocessable_entity',
  message,
  status: 422,
});

const FAILURES: Failures = {
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
  const { clock, fake } = scene;
  return {
    ...troubleIn(scene, { creation: 'create', laterPage: LATER_PAGE, failures: FAILURES }),
    open: (cluster) => openBackend(scene, undefined, scene.contextFor(cluster)),
    existing: async () =>
      fake.droplets.filter((one) => ['new', 'active'].includes(stateAt(one, clock.now()))).map(({ name }) => name),
    hideFromListings() {
      fake.behaviour.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate: () => fake.refuseLate(1),
  };
}

testBackend('digitalocean_droplet', {
  kind: provider.backends.digitalocean_droplet,
  openWorld,
  many: 4,
  findsNames: false,
  faults: Object.keys(FAILURES) as FaultKind[],
});

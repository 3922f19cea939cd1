import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { existsAt } from '../fake/instance.ts';
import { H200, LATER_PAGE, openBackend, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const LAG_MS = 3_000;
const error = (code: string): CallFailure => ({ kind: 'error', code });

const FAILURES: Failures = {
  exhausted: error('NotEnoughResources'),
  quota: error('QuotaFailure'),
  invalid: error('BadRequest'),
  throttled: { kind: 'throttle' },
  denied: error('PermissionDenied'),
  unauthenticated: error('Unauthenticated'),
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, fake } = scene;
  return {
    ...troubleIn(scene, { creation: 'create', laterPage: LATER_PAGE, failures: FAILURES }),
    open: (cluster) => openBackend(scene, H200, scene.contextFor(cluster)),
    openParking: (cluster) => openBackend(scene, { ...H200, maxDiskPoolSize: 2 }, scene.contextFor(cluster)),
    existing: async () => fake.instances.filter((one) => existsAt(one, clock.now())).map(({ name }) => name),
    hideFromListings() {
      fake.behaviour.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate: () => fake.refuseLate(1),
  };
}

testBackend('nebius_launch_template', {
  kind: provider.backends.nebius_launch_template,
  openWorld,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
});

import type { FaultKind } from '#core/fault.ts';
import type { Mischance } from '#fakes/mishaps.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { isLiving } from '../fake/compute/instance.ts';
import { LATER_PAGE, openComputeScene } from '../fake/compute/testing/scene.ts';
import gcp from '../index.ts';

const LAG_MS = 3_000;
const CREATION = 'compute.instanceGroupManagers.createInstances';
const refused = (code: string, status: number): Mischance => ({ kind: 'error', code, message: code, status });

const FAILURES: Readonly<Partial<Record<FaultKind, Mischance>>> = {
  exhausted: refused('ZONE_RESOURCE_POOL_EXHAUSTED', 503),
  quota: refused('quotaExceeded', 403),
  invalid: refused('invalid', 400),
  throttled: { kind: 'throttle' },
  denied: refused('forbidden', 403),
  unavailable: { kind: 'garbage' },
};

const openWorld = (config: object) => async (): Promise<BackendWorld> => {
  const scene = openComputeScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, fake, compute, lines, during } = scene;
  return {
    open: (cluster) => scene.openGroup(config, scene.contextFor(cluster)),
    existing: async () => compute.instances.filter((one) => isLiving(one, clock.now())).map(({ name }) => name),
    during,
    settle: () => clock.advance(30_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.mishaps.add({ action: CREATION, what: { kind: 'lost reply' } }),
    breakListing: () => void fake.mishaps.add({ ...LATER_PAGE, times: 1_000 }),
    hang: () => void fake.mishaps.add({ times: 1_000, what: { kind: 'hang' } }),
    failLate() {
      compute.late = 1;
    },
    fail: (kind) => void fake.mishaps.add({ action: CREATION, what: FAILURES[kind] as Mischance }),
    close: async () => {},
  };
};

const REGIONAL = { zone: undefined, region: 'us-central1', instanceGroup: 'velda-regional' };

for (const [title, config] of [
  ['gce_instance_group', {}],
  ['a regional gce_instance_group', REGIONAL],
  ['gce_instance_group with marks in names', { marks: 'name' }],
] as const) {
  testBackend(title, {
    kind: gcp.backends.gce_instance_group,
    openWorld: openWorld(config),
    many: 4,
    faults: Object.keys(FAILURES) as FaultKind[],
  });
}

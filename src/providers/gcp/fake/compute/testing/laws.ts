// The world in which the laws of a backend are tried on the fake Compute Engine.
import type { FaultKind } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import type { Mischance } from '#fakes/mishaps.ts';
import type { BackendWorld } from '../../../../../conformance/backend-world.ts';
import { isLiving, statusAt } from '../instance.ts';
import { type ComputeScene, LATER_PAGE, openComputeScene } from './scene.ts';

const LAG_MS = 3_000;
const refused = (code: string, status: number): Mischance => ({ kind: 'error', code, message: code, status });

const FAILURES: Readonly<Partial<Record<FaultKind, Mischance>>> = {
  exhausted: refused('ZONE_RESOURCE_POOL_EXHAUSTED', 503),
  quota: refused('quotaExceeded', 403),
  invalid: refused('invalid', 400),
  throttled: { kind: 'throttle' },
  denied: refused('forbidden', 403),
  unavailable: { kind: 'garbage' },
};

export const LAW_FAULTS = Object.keys(FAILURES) as FaultKind[];

type Open = (scene: ComputeScene, context: Context) => Promise<Backend>;

/** A world whose machines are made by that action. */
export const lawWorld = (action: string, open: Open, openParking?: Open) => async (): Promise<BackendWorld> => {
  const scene = openComputeScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, fake, compute, lines, during } = scene;
  return {
    open: (cluster) => open(scene, scene.contextFor(cluster)),
    ...(openParking && { openParking: (cluster: string) => openParking(scene, scene.contextFor(cluster)) }),
    existing: async () =>
      compute.instances
        .filter((one) => isLiving(one, clock.now()) || statusAt(one, clock.now()) === 'TERMINATED')
        .map(({ name }) => name),
    during,
    settle: () => clock.advance(30_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.mishaps.add({ action, what: { kind: 'lost reply' } }),
    breakListing: () => void fake.mishaps.add({ ...LATER_PAGE, times: 1_000 }),
    hang: () => void fake.mishaps.add({ times: 1_000, what: { kind: 'hang' } }),
    failLate() {
      compute.late = 1;
    },
    fail: (kind) => void fake.mishaps.add({ action, what: FAILURES[kind] as Mischance }),
    close: async () => {},
  };
};

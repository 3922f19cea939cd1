// The world in which the laws of a backend are tried on the fake Compute Engine.
import type { FaultKind } from '#core/fault.ts';
import type { Backend, Context } from '#core/provider.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { BackendWorld } from '../../../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../../../conformance/scene.ts';
import { innerAddress, isLiving, outerAddress, statusAt } from '../instance.ts';
import { type ComputeScene, LATER_PAGE, openComputeScene } from './scene.ts';

const LAG_MS = 3_000;
const refused = (code: string, status: number): CallFailure => ({ kind: 'error', code, message: code, status });

const FAILURES: Failures = {
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
export const lawWorld = (creation: string, open: Open, openParking?: Open) => async (): Promise<BackendWorld> => {
  const scene = openComputeScene({ pageSize: 1, lagMs: LAG_MS });
  const { clock, compute, contextFor } = scene;
  return {
    ...troubleIn(scene, { creation, laterPage: LATER_PAGE, failures: FAILURES }),
    open: (cluster) => open(scene, contextFor(cluster)),
    ...(openParking && { openParking: (cluster: string) => openParking(scene, contextFor(cluster)) }),
    existing: async () =>
      compute.instances
        .filter((one) => isLiving(one, clock.now()) || statusAt(one, clock.now()) === 'TERMINATED')
        .map(({ name }) => name),
    async reached({ host, port }) {
      const found = compute.instances.find((one) => [innerAddress(one), outerAddress(one)].includes(host));
      return found && { name: found.name, port };
    },
    hideFromListings() {
      compute.behaviour.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate() {
      compute.late = 1;
    },
  };
};

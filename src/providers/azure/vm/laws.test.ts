import type { FaultKind } from '#core/fault.ts';
import type { Mischance } from '#fakes/mishaps.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { stateAt } from '../fake/compute/machine.ts';
import { computeOf, contextIn, LATER_PAGE, openBackend, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

const refused = (code: string, status: number, message = `${code}.`): Mischance => ({
  kind: 'error',
  code,
  status,
  message,
});

const FAILURES: Failures = {
  exhausted: refused('AllocationFailed', 409),
  quota: refused('OperationNotAllowed', 409, 'It results in exceeding approved standardNCFamily Cores quota.'),
  invalid: refused('InvalidParameter', 400),
  throttled: { kind: 'throttle' },
  denied: refused('AuthorizationFailed', 403),
  missing: refused('ResourceGroupNotFound', 404),
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openScene({ pageSize: 1, lagMs: 3_000 });
  const compute = computeOf(scene);
  return {
    ...troubleIn(scene, { creation: 'management.vmPut', laterPage: LATER_PAGE, failures: FAILURES }),
    open: (cluster) => openBackend(scene, {}, contextIn(scene, cluster)),
    existing: async () =>
      compute.vms
        .filter((vm) => ['Creating', 'Succeeded'].includes(stateAt(vm, scene.clock.now())))
        .map(({ name }) => name),
    failLate() {
      compute.settings.late = 1;
    },
  };
}

testBackend('azure_vm', {
  kind: provider.backends.azure_vm,
  openWorld,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
});

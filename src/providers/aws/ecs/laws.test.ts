import type { FaultKind } from '#core/fault.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { stopAt } from '../fake/ecs/task.ts';
import provider from '../index.ts';
import { openEcsBackend, openScene, REGION } from '../testing.ts';

const LAG_MS = 3_000;
const NO_CAPACITY = 'Capacity is unavailable at this time. Please try again later or in a different availability zone';

const FAILURES: Failures = {
  exhausted: { kind: 'error', code: 'ClientException', message: NO_CAPACITY },
  quota: { kind: 'error', code: 'LimitExceededException' },
  throttled: { kind: 'throttle' },
  denied: { kind: 'error', code: 'AccessDeniedException' },
  unauthenticated: { kind: 'error', code: 'UnrecognizedClientException' },
  missing: { kind: 'error', code: 'ClusterNotFoundException', message: 'Cluster not found.' },
  invalid: { kind: 'error', code: 'InvalidParameterException' },
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openScene({ behaviour: { largestPage: 1, emptyPages: 1, listLagMs: LAG_MS } });
  const { clock, fake } = scene;
  const nameOf = ({ environment }: { readonly environment: ReadonlyMap<string, string> }): string =>
    /agentName: (\S+)/.exec(environment.get('MUSTER_AGENT_CONFIG') ?? '')?.[1] ?? '';
  const laterPage = { action: 'ListTasks', after: 1, what: { kind: 'garbage' } } as const;
  return {
    ...troubleIn(scene, { creation: 'RunTask', laterPage, failures: FAILURES }),
    open: (cluster) => openEcsBackend(scene, {}, cluster),
    existing: async () =>
      fake
        .tasks()
        .filter((task) => !stopAt(task, clock.now()))
        .map(nameOf),
    hideFromListings() {
      fake.behaviour.hidesAll = true;
    },
    failLate: () => void fake.region(REGION).stock.late.set('fargate', 1),
    async reached({ host, port }) {
      const found = fake.tasks().find(({ publicIp, privateIp }) => [publicIp, privateIp].includes(host));
      return found && { name: nameOf(found), port };
    },
  };
}

testBackend('aws_ecs', {
  kind: provider.backends.aws_ecs,
  openWorld,
  many: 4,
  findsNames: false,
  hasEndpoints: true,
  faults: Object.keys(FAILURES) as FaultKind[],
});

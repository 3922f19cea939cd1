import type { FaultKind } from '#core/fault.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, troubleIn } from '../../../conformance/scene.ts';
import { stateAt } from '../fake/ec2/instance.ts';
import provider from '../index.ts';
import { GPU, openBackend, openScene, REGION } from '../testing.ts';

const LAG_MS = 3_000;

const FAILURES: Failures = {
  exhausted: { kind: 'error', code: 'InsufficientInstanceCapacity', status: 500 },
  quota: { kind: 'error', code: 'VcpuLimitExceeded' },
  throttled: { kind: 'throttle' },
  denied: { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
  unauthenticated: { kind: 'error', code: 'AuthFailure', status: 401 },
  missing: { kind: 'error', code: 'InvalidAMIID.NotFound' },
  invalid: { kind: 'error', code: 'InvalidParameterValue' },
  unavailable: { kind: 'garbage' },
};

async function openWorld(): Promise<BackendWorld> {
  const scene = openScene({ behaviour: { largestPage: 1, emptyPages: 1, listLagMs: LAG_MS } });
  const { clock, fake } = scene;
  const laterPage = { action: 'DescribeInstances', after: 1, what: { kind: 'garbage' } } as const;
  return {
    ...troubleIn(scene, { creation: 'RunInstances', laterPage, failures: FAILURES }),
    open: (cluster) => openBackend(scene, undefined, cluster),
    existing: async () =>
      fake
        .machines()
        .filter((one) => !['shutting-down', 'terminated'].includes(stateAt(one, clock.now())))
        .map(({ tags }) => tags.get('muster:name') ?? tags.get('muster:stem') ?? ''),
    hideFromListings() {
      fake.behaviour.hidesAll = true;
    },
    failLate: () => void fake.region(REGION).stock.late.set('p3.2xlarge', 1),
    async reached({ host, port }) {
      const found = fake.machines().find(({ publicIp, privateIp }) => [publicIp, privateIp].includes(host));
      return found && { name: found.tags.get('muster:name') ?? '', port };
    },
    openParking: (cluster) => openBackend(scene, { ...GPU, maxStoppedInstances: 2 }, cluster),
  };
}

testBackend('aws_launch_template', {
  kind: provider.backends.aws_launch_template,
  openWorld,
  many: 4,
  findsNames: false,
  hasEndpoints: true,
  faults: Object.keys(FAILURES) as FaultKind[],
});

import type { FaultKind } from '#core/fault.ts';
import type { Mischance } from '#fakes/mishaps.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { stateAt } from '../fake/ec2/instance.ts';
import provider from '../index.ts';
import { GPU, openBackend, openScene, REGION } from '../testing.ts';

const LAG_MS = 3_000;

const FAILURES: Readonly<Partial<Record<FaultKind, Mischance>>> = {
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
  const { clock, fake, lines, during } = scene;
  return {
    open: (cluster) => openBackend(scene, undefined, cluster),
    existing: async () =>
      fake
        .machines()
        .filter((one) => !['shutting-down', 'terminated'].includes(stateAt(one, clock.now())))
        .map(({ tags }) => tags.get('muster:name') ?? tags.get('muster:stem') ?? ''),
    during,
    settle: () => clock.advance(60_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.mishaps.add({ action: 'RunInstances', what: { kind: 'lost reply' } }),
    breakListing: () =>
      void fake.mishaps.add({ action: 'DescribeInstances', after: 1, times: 1_000, what: { kind: 'garbage' } }),
    hang: () => void fake.mishaps.add({ times: 1_000, what: { kind: 'hang' } }),
    failLate: () => void fake.region(REGION).stock.late.set('p3.2xlarge', 1),
    openParking: (cluster) => openBackend(scene, { ...GPU, maxStoppedInstances: 2 }, cluster),
    fail: (kind) => void fake.mishaps.add({ action: 'RunInstances', what: FAILURES[kind] as Mischance }),
    close: async () => {},
  };
}

testBackend('aws_launch_template', {
  kind: provider.backends.aws_launch_template,
  openWorld,
  many: 4,
  faults: Object.keys(FAILURES) as FaultKind[],
});

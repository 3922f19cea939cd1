import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import provider from '../index.ts';
import { openDeploymentsAt, openKubeScene } from '../testing.ts';
import { machinesIn, reached } from './testing.ts';

const refused = (status: number, code: string, message = ''): CallFailure => ({ kind: 'error', status, code, message });

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  quota: refused(403, 'Forbidden', 'deployments.apps "m-1" is forbidden: exceeded quota: few, requested: 1'),
  throttled: { kind: 'throttle' },
  denied: refused(403, 'Forbidden', 'User "system:serviceaccount:velda:x" cannot create resource "deployments"'),
  unauthenticated: refused(401, 'Unauthorized'),
  invalid: refused(
    422,
    'Invalid',
    'Deployment.apps "m-1" is invalid: spec.template.spec.containers[0].image: Required',
  ),
  unavailable: { kind: 'garbage' },
};

/** How often a call fails before its caller learns of it. */
const TRIES: Readonly<Partial<Record<FaultKind, number>>> = { unauthenticated: 2, throttled: 5, unavailable: 2 };

async function openWorld(config: object): Promise<BackendWorld> {
  const scene = openKubeScene({ behaviour: { largestPage: 1 } });
  const { clock, fake, lines, during } = scene;
  const open = (cluster: string) => openDeploymentsAt(scene, cluster, config);
  return {
    open,
    openWatching: open,
    existing: async () => machinesIn(fake),
    during,
    settle: () => clock.advance(60_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.failureRules.add({ action: 'create deployments', what: { kind: 'lost reply' } }),
    breakListing: () =>
      void fake.failureRules.add({ action: 'list deployments', after: 1, times: 1_000, what: { kind: 'garbage' } }),
    hang: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    failLate: () => void fake.kubelet.rules.add({ unschedulable: '0/3 nodes are available: 3 Insufficient cpu.' }),
    fail: (kind) =>
      void fake.failureRules.add({
        action: 'create deployments',
        times: TRIES[kind] ?? 1,
        what: FAILURES[kind] as CallFailure,
      }),
    reached: async (endpoint) => reached(fake, endpoint),
    close: async () => {},
  };
}

const HARNESS = {
  kind: provider.backends.kubernetes_deployment,
  hasEndpoints: true,
  faults: Object.keys(FAILURES) as FaultKind[],
  many: 4,
} as const;

testBackend('kubernetes_deployment', { ...HARNESS, openWorld: () => openWorld({}) });
testBackend('kubernetes_deployment, with load balancers,', {
  ...HARNESS,
  openWorld: () => openWorld({ serviceType: 'LoadBalancer' }),
});

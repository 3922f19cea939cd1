import type { FaultKind } from '#core/fault.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { testBackend } from '../../../conformance/backend.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import provider from '../index.ts';
import { openKubeScene, openPodsAt } from '../testing.ts';

const refused = (status: number, code: string, message = ''): CallFailure => ({ kind: 'error', status, code, message });

const FAILURES: Readonly<Partial<Record<FaultKind, CallFailure>>> = {
  quota: refused(403, 'Forbidden', 'pods "m-1" is forbidden: exceeded quota: compute, requested: pods=1'),
  throttled: { kind: 'throttle' },
  denied: refused(403, 'Forbidden', 'User "system:serviceaccount:velda:x" cannot create resource "pods"'),
  unauthenticated: refused(401, 'Unauthorized'),
  invalid: refused(422, 'Invalid', 'Pod "m-1" is invalid: spec.containers[0].image: Required value'),
  unavailable: { kind: 'garbage' },
};

/** How often a call is refused before its caller learns of it. */
const TRIES: Readonly<Partial<Record<FaultKind, number>>> = { unauthenticated: 2, throttled: 5 };

async function openWorld(): Promise<BackendWorld> {
  const scene = openKubeScene({ behaviour: { largestPage: 1 } });
  const { clock, fake, lines, during } = scene;
  return {
    open: (cluster) => openPodsAt(scene, cluster),
    existing: async () =>
      fake
        .objects('pods')
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name),
    during,
    settle: () => clock.advance(60_000),
    logged: () => lines.join('\n'),
    loseReply: () => void fake.failureRules.add({ action: 'create pods', what: { kind: 'lost reply' } }),
    breakListing: () =>
      void fake.failureRules.add({ action: 'list pods', after: 1, times: 1_000, what: { kind: 'garbage' } }),
    hang: () => void fake.failureRules.add({ times: 1_000, what: { kind: 'hang' } }),
    openWatching: (cluster) => openPodsAt(scene, cluster),
    failLate: () => void fake.kubelet.rules.add({ unschedulable: '0/3 nodes are available: 3 Insufficient cpu.' }),
    fail: (kind) =>
      void fake.failureRules.add({
        action: 'create pods',
        times: TRIES[kind] ?? 1,
        what: FAILURES[kind] as CallFailure,
      }),
    close: async () => {},
  };
}

testBackend('kubernetes', {
  kind: provider.backends.kubernetes,
  openWorld,
  faults: Object.keys(FAILURES) as FaultKind[],
  many: 4,
});

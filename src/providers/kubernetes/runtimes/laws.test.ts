import type { FaultKind } from '#core/fault.ts';
import { testRuntimeHost } from '../../../conformance/runtime-host.ts';
import type { RuntimeHostWorld } from '../../../conformance/runtime-host-world.ts';
import provider from '../index.ts';
import { openRuntimeScene, TEXTS } from './testing.ts';

const NAMESPACE = 'cloud-runtime';
const FOR_EVER = 1e9;
const KINDS = [
  'statefulsets.apps',
  'deployments.apps',
  'services',
  'ingresses.networking.k8s.io',
  'persistentvolumeclaims',
];
const STATUSES: Readonly<Partial<Record<FaultKind, readonly [number, string]>>> = {
  unavailable: [503, 'ServiceUnavailable'],
  denied: [403, 'Forbidden'],
  throttled: [429, 'TooManyRequests'],
};

async function openWorld(texts: Readonly<Record<string, string>>): Promise<RuntimeHostWorld> {
  const scene = await openRuntimeScene(texts);
  const { fake } = scene;
  const claimsOf = (id: string) =>
    fake
      .objects('persistentvolumeclaims', NAMESPACE)
      .filter(({ metadata }) => metadata.labels?.['muster.io/runtime'] === id);
  return {
    open: scene.open,
    settle: () => scene.clock.advance(10_000),
    during: scene.during,
    existing: () =>
      KINDS.flatMap((kind) => fake.objects(kind, NAMESPACE).map(({ metadata }) => `${kind}/${metadata.name}`)),
    revision: () => fake.world.store.revision,
    dataOf: (id) => claimsOf(id)[0]?.metadata.uid,
    async damage(id) {
      await scene.kubectl('DELETE', `/api/v1/namespaces/${NAMESPACE}/services/runtime-${id}`);
    },
    async addForeign() {
      // Of another Muster that serves the same namespace.
      const labels = { 'muster.io/cluster': 'another', 'muster.io/runtime': 'a', 'app.kubernetes.io/instance': 'a' };
      await scene.kubectl('POST', `/api/v1/namespaces/${NAMESPACE}/services`, {
        metadata: { name: 'foreign', labels },
      });
    },
    silence() {
      fake.behaviour.startMs = Number.MAX_SAFE_INTEGER;
    },
    fail(kind) {
      const [status, code] = STATUSES[kind] ?? [500, 'InternalError'];
      fake.failureRules.clear();
      fake.failureRules.add({ times: FOR_EVER, what: { kind: 'error', status, code } });
    },
    hang: () => void fake.failureRules.add({ times: FOR_EVER, what: { kind: 'hang' } }),
    async close() {},
  };
}

for (const [form, texts] of Object.entries(TEXTS)) {
  testRuntimeHost(`kubernetes with a ${form}`, {
    kind: provider.runtimes.kubernetes,
    openWorld: () => openWorld(texts),
    faults: ['unavailable', 'denied', 'throttled'],
  });
}

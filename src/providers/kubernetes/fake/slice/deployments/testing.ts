// How the slice gets at the simulated cluster where machines are Deployments; documents are kept elsewhere.
import type { SliceCloud, SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../../conformance/slice-world.ts';
import { MACHINE_LABEL } from '../../../deployments/objects.ts';
import kubernetes from '../../../index.ts';
import { markOf } from '../../../pods/marks.ts';
import { type FakeKubernetes, openFakeKubernetes } from '../../fake-kubernetes.ts';
import { fieldsOf, type KubeObject, textOf } from '../../objects/object.ts';
import { type Others, othersIn } from '../others.ts';
import { SERVER } from '../testing.ts';

const STORAGE = 'apps/deployments';
const DEPLOYMENTS = 'deployments.apps';
const SCHEDULING_MS = 120_000;

/** What the agent of a machine finds in its Secret. */
function agentFile(fake: FakeKubernetes, { namespace, name }: KubeObject['metadata']): string {
  const secret = fake.object('secrets', namespace, name);
  return Buffer.from(textOf(fieldsOf(secret?.data)['velda.yaml']), 'base64').toString();
}

function machineOf(fake: FakeKubernetes, deployment: KubeObject, isDeleted: boolean): SliceMachine {
  const { name, uid, deletionTimestamp } = deployment.metadata;
  const isUp = deletionTimestamp === undefined && Number(deployment.status?.availableReplicas ?? 0) > 0;
  /** Its agent has ended: the container is started again, each time for a moment. */
  function poweredOff(): void {
    const isIts = ({ metadata }: KubeObject): boolean => metadata.labels?.[MACHINE_LABEL] === name;
    fake.kubelet.rules.add({ when: isIts, exits: { afterMs: 0, code: 0 } });
    for (const pod of fake.objects('pods').filter(isIts)) fake.kubelet.exit('default', pod.metadata.name, 0);
  }
  return {
    id: uid,
    name,
    poweredOff,
    mark: markOf(deployment as object as Parameters<typeof markOf>[0]),
    state: () => (isDeleted ? 'gone' : isUp ? 'running' : 'off'),
    nextChangeMs: () => undefined,
    scripts: () => [agentFile(fake, deployment.metadata)],
    exists: () => !isDeleted && deletionTimestamp === undefined,
  };
}

/** Every Deployment that ever was, as it was last seen. */
function machinesOf(fake: FakeKubernetes, changed: (machine: SliceMachine) => void): () => readonly SliceMachine[] {
  const all = new Map<string, SliceMachine>();
  fake.world.store.watch(({ storage, type, object }) => {
    if (storage !== STORAGE) return;
    const machine = machineOf(fake, object, type === 'DELETED');
    all.set(machine.id, machine);
    changed(machine);
  });
  return () => [...all.values()];
}

/** Deployments of others: without labels, with some of ours, of another Muster, of a runtime of this one. */
function addForeign(others: Others, cluster: string): readonly string[] {
  const whole = { 'muster.io/use': 'worker', 'muster.io/owner': 'p', 'muster.io/shape': 's' };
  const labelSets = [
    {},
    { app: 'velda-agent' },
    { ...whole, 'muster.io/machine': 'foreign-2' },
    { ...whole, 'muster.io/cluster': 'cluster9', 'muster.io/machine': 'foreign-3' },
    { 'muster.io/cluster': cluster, 'muster.io/machine': 'foreign-4' },
    { ...whole, 'muster.io/cluster': cluster },
  ];
  return labelSets.map((labels, at) => {
    const metadata = { name: `foreign-${at}`, namespace: 'default', labels };
    const template = { metadata: { labels: { at: `${at}` } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const spec = { selector: { matchLabels: { at: `${at}` } }, template };
    others.create(DEPLOYMENTS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    return others.get({ resource: DEPLOYMENTS, ...metadata })?.metadata.uid ?? '';
  });
}

/** The simulated cluster behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeKubernetes>();

const { kubernetes_deployment: kind } = kubernetes.backends;
// Documents of others may not name this kind; the slice is about what the operator's own do.
const TRUSTED = {
  ...kubernetes,
  backends: { kubernetes_deployment: { ...kind, trust: 'any source' as const } },
};

export const DEPLOYMENT_SLICE: SliceSuite = {
  provider: TRUSTED,
  backend: { kind: 'kubernetes_deployment', config: { image: 'muster/agent:1' } },
  openCloud({ clock, random, bootMs, pageSize: largestPage }) {
    const nodes = Array.from({ length: 10 }, (_, at) => ({ name: `node-${at}` }));
    const fake = openFakeKubernetes({ clock, random, nodes, behaviour: { startMs: bootMs, largestPage } });
    const others = othersIn(fake);
    const watching = new Set<(machine: SliceMachine) => void>();
    const machines = machinesOf(fake, (machine) => {
      for (const changed of watching) changed(machine);
    });
    const cloud: SliceCloud = {
      fake,
      machines,
      watch: (changed) => void watching.add(changed),
      addForeign: async (cluster) => addForeign(others, cluster),
      refuseLate(count) {
        const refused = new Set<string>();
        const when = ({ metadata }: KubeObject): boolean =>
          refused.has(metadata.uid) || (refused.size < count && refused.add(metadata.uid).size > 0);
        fake.kubelet.rules.add({ when, unschedulable: '0/10 nodes are available: 10 Insufficient nvidia.com/gpu.' });
      },
      openCluster: () => ({
        id: 'cluster.test',
        server: SERVER,
        credential: async () => ({ headers: {}, tls: {} }),
      }),
    };
    fakesOf.set(cloud, fake);
    return cloud;
  },
  async load() {
    await import('../../../deployments/backend.ts');
  },
  creation: 'create deployments',
  // The Secret names its owner.
  additions: ['create secrets'],
  removals: ['delete deployments'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  // Each machine is four calls.
  shortStride: 31,
  mostDocuments: 1_000,
  refusedAfterMs: SCHEDULING_MS,
  laterPage: {
    when: ({ query }) => query.has('continue'),
    what: { kind: 'error', code: 'InternalError', status: 500 },
    action: 'list deployments',
  },
  denied: { kind: 'error', code: 'Forbidden', status: 403 },
  named: /cluster\.test|in namespace default/,
  excuses: { boots: 'the image of its pods brings the agent' },
};

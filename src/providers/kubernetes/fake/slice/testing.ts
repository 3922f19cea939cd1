// How the slice gets at the simulated cluster: AgentPool objects as documents, pods as machines.
import type { Place, SliceDocuments, SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../conformance/slice-world.ts';
import { AGENT_POOL_CRD } from '../../agent-pool/crd.ts';
import kubernetes from '../../index.ts';
import { markOf } from '../../pods/marks.ts';
import { AGENT_POD } from '../../testing.ts';
import { type FakeKubernetes, openFakeKubernetes } from '../fake-kubernetes.ts';
import { fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import type { KubeCall } from '../wire/read-call.ts';
import { type Others, othersIn } from './others.ts';

export const SERVER = 'https://cluster.test';
export const POOLS = 'agentpools.velda.io';
const SCHEDULING_MS = 120_000;
const NAMESPACES: Readonly<Record<Place, string>> = {
  pools: 'default',
  other: 'other',
  mistyped: 'defualt',
  elsewhere: 'elsewhere',
};

const secondsOf = (duration: string | undefined): number | undefined =>
  duration === undefined ? undefined : Number.parseInt(duration, 10);

/** The object that a writer of this pool document would write here. */
export function agentPool(namespace: string, name: string, text: string): object {
  const scaler = JSON.parse(text).auto_scaler;
  const autoscaler = {
    maxReplicas: scaler.max_agents ?? 0,
    minIdle: scaler.min_idle_agents ?? 0,
    maxIdle: scaler.max_idle_agents ?? 0,
    idleDecaySecond: secondsOf(scaler.idle_decay),
    killUnknownAfterSecond: secondsOf(scaler.kill_unknown_after),
  };
  const template = scaler.backend?.kubernetes?.template;
  return {
    apiVersion: 'velda.io/v1',
    kind: 'AgentPool',
    metadata: { name, namespace },
    spec: { autoscaler, template },
  };
}

/** `reads`: the namespace that a source reads, where it is not the one of its place; empty: all. */
function documentsOf(others: Others, reads: (place: Place) => string | undefined): SliceDocuments {
  const kind = kubernetes.sources.kubernetes;
  const at = (place: Place, name: string) => ({ resource: POOLS, namespace: NAMESPACES[place], name });
  return {
    async open(place, context) {
      const config = kind.config.parse({ namespace: reads(place) ?? NAMESPACES[place] });
      return { kind: 'kubernetes', place: kind.place?.(config), source: await kind.open(config, context) };
    },
    write(place, name, text) {
      const object = agentPool(NAMESPACES[place], name, text);
      if (others.get(at(place, name))) others.patch(at(place, name), object);
      else others.create(POOLS, object);
      return `${NAMESPACES[place]}/${name}`;
    },
    erase: (place, name) => others.remove(at(place, name)),
    vanish(place, name) {
      others.patch(at(place, name), { metadata: { finalizers: null } });
      others.remove(at(place, name));
    },
    bad: {
      text: JSON.stringify({ auto_scaler: { backend: { kubernetes: { template: { spec: AGENT_POD.spec } } } } }),
      version: /^[0-9a-f-]{36}\.1$/,
      place: 'spec.template.metadata.labels',
    },
    erasedBecause: (place, name) => `Deleted in source "documents" (document "${NAMESPACES[place]}/${name}").`,
    laterPage: { ...BROKEN, action: 'list agentpools' },
  };
}

/** Every pod that ever was, as it was last seen. */
function podsOf(fake: FakeKubernetes, changed: (machine: SliceMachine) => void): () => readonly SliceMachine[] {
  const all = new Map<string, SliceMachine>();
  fake.world.store.watch(({ storage, type, object }) => {
    if (storage !== '/pods') return;
    const machine = machineOf(object, type === 'DELETED');
    all.set(machine.id, machine);
    changed(machine);
  });
  return () => [...all.values()];
}

function machineOf(pod: KubeObject, isDeleted: boolean): SliceMachine {
  const { name, uid, deletionTimestamp } = pod.metadata;
  const phase = textOf(pod.status?.phase);
  const [agent] = listOf(pod.status?.containerStatuses).map(fieldsOf);
  const isUp = phase === 'Running' && fieldsOf(agent?.state).running !== undefined;
  const isOver = isDeleted || phase === 'Succeeded' || phase === 'Failed';
  return {
    id: uid,
    name,
    mark: markOf(pod as object as Parameters<typeof markOf>[0]),
    address: textOf(pod.status?.podIP) || undefined,
    state: () => (isOver ? 'gone' : isUp ? 'running' : 'off'),
    nextChangeMs: () => undefined,
    scripts: () => [],
    exists: () => !isOver && deletionTimestamp === undefined,
  };
}

/** Pods of others: without labels, with some of ours, of another Muster. */
function addForeign(others: Others, cluster: string): readonly string[] {
  const whole = { 'muster.io/use': 'worker', 'muster.io/owner': 'p', 'muster.io/shape': 's' };
  const labelSets = [
    {},
    { app: 'velda-agent' },
    whole,
    { ...whole, 'muster.io/cluster': 'cluster9' },
    { 'muster.io/cluster': cluster },
  ];
  return labelSets.map((labels, at) => {
    const metadata = { name: `foreign-${at}`, namespace: 'default', labels };
    others.create('pods', { apiVersion: 'v1', kind: 'Pod', metadata, spec: AGENT_POD.spec });
    return others.get({ resource: 'pods', ...metadata })?.metadata.uid ?? '';
  });
}

const isLaterPage = ({ query }: KubeCall): boolean => query.has('continue');
const BROKEN = { when: isLaterPage, what: { kind: 'error', code: 'InternalError', status: 500 } } as const;

/** The simulated cluster behind a world of the slice. */
export const fakesOf = new WeakMap<object, FakeKubernetes>();

const sliceOf = (reads: (place: Place) => string | undefined = () => undefined): SliceSuite => ({
  provider: kubernetes,
  backend: { kind: 'kubernetes', config: { template: AGENT_POD } },
  openCloud({ clock, random, bootMs, pageSize: largestPage }) {
    const nodes = Array.from({ length: 10 }, (_, at) => ({ name: `node-${at}` }));
    const fake = openFakeKubernetes({ clock, random, nodes, behaviour: { startMs: bootMs, largestPage } });
    const others = othersIn(fake);
    const watching = new Set<(machine: SliceMachine) => void>();
    const machines = podsOf(fake, (machine) => {
      for (const changed of watching) changed(machine);
    });
    others.create('customresourcedefinitions.apiextensions.k8s.io', AGENT_POOL_CRD);
    others.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACES.other } });
    const cloud = {
      fake,
      machines,
      watch: (changed: (machine: SliceMachine) => void) => void watching.add(changed),
      addForeign: async (cluster: string) => addForeign(others, cluster),
      refuseLate(count: number) {
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
      documents: documentsOf(others, reads),
    };
    fakesOf.set(cloud, fake);
    return cloud;
  },
  async load() {
    await Promise.all([import('../../pods/backend.ts'), import('../../agent-pool/source.ts')]);
  },
  creation: 'create pods',
  removals: ['delete pods'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  shortStride: 15,
  // Each is kept by a finalizer and answered by status: so many AgentPools are a large cluster.
  mostDocuments: 500,
  refusedAfterMs: SCHEDULING_MS,
  laterPage: { ...BROKEN, action: 'list pods' },
  denied: { kind: 'error', code: 'Forbidden', status: 403 },
  named: /cluster\.test|in namespace default/,
  excuses: {
    boots: 'the image of its pods brings the agent',
    moved: 'the pods of a pool are in the namespace of its object: with another one come other pods',
    'two clusters':
      'an AgentPool belongs to the first that reads it: tested beside the source, their pods by the backend',
    'odd names': 'a pool has the name of its object, and Kubernetes takes lowercase letters, digits, - and . alone',
    forbidden: 'an object can name no backend and no address: its source adds them',
  },
});

export const KUBERNETES_SLICE = sliceOf();
/** With a source that reads all namespaces. */
export const WHOLE_CLUSTER = sliceOf(() => '');
/** The place `pools` is one namespace, and `other` stands for a source that reads all of them. */
export const ONE_OR_ALL = sliceOf((place) => (place === 'other' ? '' : undefined));

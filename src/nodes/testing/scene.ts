// A server with node groups of a cloud in memory, whose machines become nodes of a simulated cluster.
import type { Clouds } from '#clouds/clouds.ts';
import type { Log } from '#core/log.ts';
import type { Nodes } from '#core/node.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import type { Context } from '#core/provider.ts';
import { drop, put, type Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import type { KubeObject } from '#kube/object.ts';
import { emptyDisk } from '#store/memory.ts';
import type { Fate } from '#store/testing/mortal.ts';
import {
  type MemoryCloud,
  type MemoryCloudStyle,
  type MemoryGroup,
  type MemoryMachine,
  openMemoryCloud,
} from '../../conformance/memory-node-cloud.ts';
import { type MemoryMood, memoryNodeGroups, providerIdOf } from '../../conformance/memory-node-groups.ts';
import { type KubeScene, openKubeScene } from '../../providers/kubernetes/testing.ts';
import { NODE_POOL_CRD } from '../crd.ts';
import { DELETION_TAINT, POOL_LABEL } from '../objects.ts';
import type { NodesSettings } from '../section.ts';
import type { WrittenSpec } from '../spec.ts';
import { type NodeServer, type NodeServerParts, openNodeServer } from './server.ts';

export interface PodMore {
  /** Bound to that node. */
  readonly on?: string;
  readonly spec?: object;
  readonly labels?: object;
  readonly annotations?: object;
  /** It has an owner, of that kind, that makes no pod again. */
  readonly owned?: boolean | string;
}

export interface NodesScene extends KubeScene {
  readonly cloud: MemoryCloud;
  /** The clouds of pools, which a test changes. */
  readonly clouds: { -readonly [K in 'offersOf' | 'cloudOf' | 'fault']: Clouds[K] };
  readonly mood: MemoryMood;
  readonly said: { said: string; fields: object }[];
  readonly nodes: Nodes;
  readonly store: Store;
  /** Defines or changes a NodeProvisioner. */
  define(name: string, spec: object): Promise<void>;
  /** Running machines of a group, each with a ready node; `runForMs`: they end by themselves. */
  fill(group: MemoryGroup, count: number, runForMs?: number): void;
  /** A pod without an owner, which the scheduler places. */
  addPod(name: string, gpus: number, more?: PodMore): Promise<void>;
  removePod(name: string): Promise<void>;
  /** Pods that their owner makes again. */
  deploy(name: string, replicas: number, gpus: number, spec?: object): Promise<void>;
  scaleDeployment(name: string, replicas: number): Promise<void>;
  /** Pods by name, with the node that each is on. */
  places(): Readonly<Record<string, string>>;
  nodeNames(): readonly string[];
  tainted(): readonly string[];
  status(name: string): Readonly<Record<string, unknown>>;
  /** Every call to the cloud of groups. */
  readonly calls: string[];
  decisions(name: string): Promise<readonly string[]>;
  events(name: string): Promise<readonly string[]>;
  /** An operator stops all action, and lets it go on. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** The process ends as it is, and another starts on the same store. */
  restart(): Promise<void>;
  /** A process that has died is followed by another, with what was stored. */
  replaceDead(): Promise<void>;
  /** Another Muster of that id for the same cluster and the same groups, with a store of its own. */
  startOther(name: string): Promise<NodeServer>;
  stop(): Promise<void>;
}

export interface NodesSceneOptions {
  readonly style?: MemoryCloudStyle;
  readonly template?: NodeTemplate;
  readonly bootMs?: number;
  readonly registerMs?: number;
  /** The cluster knows no NodeProvisioners. */
  readonly isWithoutDefinition?: boolean;
  readonly settings?: Partial<NodesSettings>;
  /** What the server sees of the cluster; by default everything. */
  contextOf?(kube: KubeScene): Context;
  /** Where the process dies. */
  readonly fate?: Fate;
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const OBJECTS = '/apis/compute.baseten.co/v1alpha1/nodeprovisioners';

const amountsOf = ({ allocatable }: NodeTemplate): Record<string, string> =>
  Object.fromEntries(
    Object.entries(allocatable).map(([name, amount]) => [name, name === 'cpu' ? `${amount}m` : String(amount)]),
  );

const resourcesOf = (gpus: number) => {
  const limits = gpus > 0 ? { 'nvidia.com/gpu': String(gpus) } : {};
  return { requests: { ...limits, cpu: '1' }, limits };
};

/** An owner that is no controller: its pods are not made again. */
const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } };

export async function openNodesScene(options: NodesSceneOptions = {}): Promise<NodesScene> {
  const { style = 'names', registerMs = 20_000, bootMs = 10_000, settings = {} } = options;
  const kube = openKubeScene({ nodes: [] });
  const { clock } = kube;
  const calls: string[] = [];
  const mood: MemoryMood = { isReplyLost: false, isHanging: false, calls };
  const poolOf = new Map<string, string>();
  let boots = registerMs;

  function addNode(group: MemoryGroup, machine: MemoryMachine): void {
    const labels = { [POOL_LABEL]: poolOf.get(group.name) ?? group.name, ...group.template.labels };
    const taints = group.template.taints.map(({ key, value = '', effect }) => ({ key, value, effect }));
    kube.fake.nodes.add({ name: machine.name, labels, allocatable: amountsOf(group.template), taints });
    const node = kube.fake.object('nodes', undefined, machine.name);
    if (node)
      kube.fake.world.store.replace('/nodes', {
        ...node,
        spec: { ...node.spec, providerID: providerIdOf(group, machine) },
      });
  }

  function removeNode({ name }: MemoryMachine): void {
    const { store } = kube.fake.world;
    for (const pod of store.list('/pods')) if (pod.spec?.nodeName === name) store.remove('/pods', pod);
    const node = store.get('/nodes', undefined, name);
    if (node) store.remove('/nodes', node);
  }

  const cloud = openMemoryCloud(clock, {
    bootMs,
    template: options.template,
    changed(group, machine, now) {
      if (now === 'gone') removeNode(machine);
      else if (boots === 0) addNode(group, machine);
      else clock.alarm(boots, () => group.machines.has(machine.id) && addNode(group, machine));
    },
  });
  const said: { said: string; fields: object }[] = [];
  const log: Log = (_level, text, fields = {}) => void said.push({ said: text, fields });
  const clouds: NodesScene['clouds'] = { cloudOf: (id) => id, fault: () => undefined, offersOf: () => [] };
  const contextOf = options.contextOf ?? ((scene) => scene.contextFor());
  const parts: Omit<NodeServerParts, 'disk'> = {
    ...{ clock, log, clouds, settings },
    context: () => contextOf(kube),
    groups: () => memoryNodeGroups(cloud, style, mood),
  };
  const disk = emptyDisk();
  const openOnDisk = () => openNodeServer({ ...parts, disk, self: options.fate?.mortal() });
  let server = await openOnDisk();
  const { store } = server;

  if (!options.isWithoutDefinition) await kube.kubectl('POST', DEFINITIONS, NODE_POOL_CRD);
  await clock.advance(6_000);

  const others: NodeServer[] = [];
  let ownerUid: string | undefined;
  async function ownersOf(owned: boolean | string): Promise<object[]> {
    if (owned === false) return [];
    const at = '/api/v1/namespaces/default/configmaps';
    if (ownerUid === undefined) await kube.kubectl('POST', at, OWNER);
    ownerUid ??= kube.fake.object('configmaps', 'default', 'owner')?.metadata.uid ?? '';
    const kind = owned === true ? 'ConfigMap' : owned;
    return [{ apiVersion: 'v1', kind, name: 'owner', uid: ownerUid, controller: true }];
  }

  return {
    ...kube,
    cloud,
    clouds,
    mood,
    store,
    said,
    calls,
    get nodes() {
      return server.nodes;
    },
    async define(name, spec) {
      const { existingInstanceGroupNames = [], instanceGroups = [] } = spec as WrittenSpec;
      for (const group of [...existingInstanceGroupNames, ...instanceGroups.map((one) => one.name)])
        poolOf.set(group, name);
      const there = kube.fake.object('nodeprovisioners.compute.baseten.co', undefined, name);
      const object = { apiVersion: 'compute.baseten.co/v1alpha1', kind: 'NodeProvisioner', metadata: { name }, spec };
      if (there) await kube.kubectl('PATCH', `${OBJECTS}/${name}`, { spec });
      else await kube.kubectl('POST', OBJECTS, object);
    },
    fill(group, count, runForMs) {
      poolOf.set(group.name, poolOf.get(group.name) ?? 'h100');
      boots = 0;
      for (let at = 0; at < count; at++) cloud.addRunning(group, undefined, runForMs);
      boots = registerMs;
    },
    async addPod(name, gpus, { on, spec = {}, labels = {}, annotations = {}, owned = false } = {}) {
      const resources = resourcesOf(gpus);
      await kube.kubectl('POST', PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels, annotations, ownerReferences: await ownersOf(owned) },
        spec: { containers: [{ name: 'main', image: 'main:1', resources }], ...(on && { nodeName: on }), ...spec },
      });
    },
    async removePod(name) {
      await kube.kubectl('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
    },
    async deploy(name, replicas, gpus, spec = {}) {
      const template = {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'main:1', resources: resourcesOf(gpus) }], ...spec },
      };
      await kube.kubectl('POST', DEPLOYMENTS, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name },
        spec: { replicas, selector: { matchLabels: { app: name } }, template },
      });
    },
    async scaleDeployment(name, replicas) {
      await kube.kubectl('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { replicas } });
    },
    places: () =>
      Object.fromEntries(
        kube.fake.objects('pods').map(({ metadata, spec }) => [metadata.name, String(spec?.nodeName ?? '')]),
      ),
    nodeNames: () => kube.fake.objects('nodes').map(({ metadata }) => metadata.name),
    tainted: () =>
      kube.fake
        .objects('nodes')
        .filter(({ spec }) => ((spec?.taints ?? []) as { key: string }[]).some(({ key }) => key === DELETION_TAINT))
        .map(({ metadata }) => metadata.name),
    status: (name) =>
      (kube.fake.object('nodeprovisioners.compute.baseten.co', undefined, name) as KubeObject).status as Record<
        string,
        unknown
      >,
    async decisions(name) {
      await store.durable();
      const subject = `node-provisioner/${name}`;
      const rows = await store.history.decisions({ subject }, { limit: 1_000, order: 'oldest first' });
      return rows.map(({ did, why }) => `${did}: ${why}`);
    },
    async events(name) {
      await store.durable();
      const rows = await store.history.events(
        { subject: `node-provisioner/${name}` },
        { limit: 1_000, order: 'oldest first' },
      );
      return rows.map(({ message }) => message);
    },
    freeze: () =>
      store.commit([put('freezes', { id: FLEET, at: clock.now(), why: 'test', by: 'ops', automatic: false })]),
    thaw: () => store.commit([drop('freezes', FLEET)]),
    async restart() {
      const stopped = server.stopFeature();
      await clock.advance(1_000);
      await stopped;
      server.startFeature();
      await clock.advance(1_000);
    },
    async replaceDead() {
      if (server.isDead()) server = await openOnDisk();
    },
    async startOther(name) {
      const other = await openNodeServer({ ...parts, disk: emptyDisk(name), context: () => kube.contextFor(name) });
      others.push(other);
      return other;
    },
    async stop() {
      const all = [server, ...others];
      const stopped = Promise.all(all.map((one) => one.stopFeature()));
      await clock.advance(60_000);
      await stopped;
      await Promise.all(all.map((one) => one.close()));
    },
  };
}

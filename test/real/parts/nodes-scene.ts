// Muster with node groups of a simulated cloud, whose machines become nodes of a real control plane.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { serveFake } from '#fakes/serve.ts';
import {
  ACCESS_KEY,
  PROJECT as CRUSOE_PROJECT,
  openFakeCrusoe,
  SECRET_KEY,
} from '../../../src/providers/crusoe/fake/cloud.ts';
import { type FakePool, type FakeVm, vmState } from '../../../src/providers/crusoe/fake/pool.ts';
import type { FakeGroup } from '../../../src/providers/gcp/fake/compute/group.ts';
import { type FakeInstance, isGone, statusAt } from '../../../src/providers/gcp/fake/compute/instance.ts';
import type { ComputeState } from '../../../src/providers/gcp/fake/compute/state.ts';
import { addNodeGroup } from '../../../src/providers/gcp/fake/compute/testing/node-laws.ts';
import { openFakeGcp } from '../../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../../src/providers/gcp/fake/serve.ts';
import { type CliResult, runCli } from '../../system/harness/cli.ts';
import { placeServer, type RunningServer, startServer } from '../../system/harness/server.ts';
import { ROOT, type World } from '../../system/harness/world.ts';
import { ADMIN, type ControlPlane, type ControlPlaneOptions, openControlPlane } from './control-plane.ts';
import { type JoiningMachine, type JoinOptions, joinNodes, POOL_LABEL } from './joined-nodes.ts';
import { type KubeApi, openKubeApi } from './kube-api.ts';
import type { KubernetesPrograms } from './kubernetes.ts';

const CRD = join(ROOT, 'deploy/kubernetes/nodeprovisioner-crd.yaml');
const PROJECT = 'my-project';
export const GPUS_A_NODE = 8;

export interface NodesScene {
  readonly world: World;
  readonly cluster: ControlPlane;
  readonly api: KubeApi;
  readonly compute: ComputeState;
  readonly group: FakeGroup;
  readonly server: RunningServer;
  muster(...words: readonly string[]): Promise<CliResult>;
}

export interface NodesSceneOptions {
  readonly controlPlane?: ControlPlaneOptions;
  /** From the making of a machine until its node is there. */
  readonly bootMs?: number;
  /** The name of the object, which is the name of its pool of nodes. */
  readonly pool: string;
  /** Ends with the test. */
  onEnd(end: () => Promise<void>): void;
}

interface SimulatedCloud {
  readonly account: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly machines: JoinOptions['machines'];
  close(): Promise<void>;
}

type ClusterScene = Pick<NodesScene, 'world' | 'cluster' | 'api' | 'server' | 'muster'>;

async function openClusterScene(
  world: World,
  programs: KubernetesPrograms,
  { cloud, controlPlane, pool, onEnd }: NodesSceneOptions & { readonly cloud: SimulatedCloud },
): Promise<ClusterScene> {
  const cluster = await openControlPlane(world, programs, controlPlane);
  await cluster.apply(readFileSync(CRD, 'utf8'));
  await cluster.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s');
  const api = openKubeApi(cluster);
  const joined = joinNodes(api, {
    machines: cloud.machines,
    node: { labels: { [POOL_LABEL]: pool, fleet: 'muster' }, gpus: GPUS_A_NODE },
    failed: (error) => process.stderr.write(`${error}\n`),
  });
  onEnd(async () => {
    joined.stop();
    api.close();
    await cloud.close();
  });
  const place = await placeServer(world, { nodes: { accounts: [cloud.account] } });
  const server = await startServer(world, place, { KUBECONFIG: cluster.kubeconfigOf(ADMIN), ...cloud.env }).ready();
  return { world, cluster, api, server, muster: (...words) => runCli(world, words) };
}

export async function openNodesScene(
  world: World,
  programs: KubernetesPrograms,
  options: NodesSceneOptions,
): Promise<NodesScene> {
  const { bootMs = 2_000 } = options;
  const fake = openFakeGcp(systemClock);
  const { compute } = fake.world;
  Object.assign(compute.behaviour, { bootMs, endMs: 500, lagMs: 0 });
  const group = addNodeGroup({ compute }, 'zones/us-central1-a', 'grp-a');
  const served = await serveGcp(fake, { port: 0 });
  const stateOf = (one: FakeInstance, nowMs: number): JoiningMachine['state'] =>
    isGone(one, nowMs) ? 'gone' : statusAt(one, nowMs) === 'RUNNING' ? 'running' : 'other';
  const cloud: SimulatedCloud = {
    account: { gce: { project: PROJECT } },
    env: {
      CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${served.address}/compute/v1/`,
      CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
    },
    machines: (nowMs) =>
      compute.instances.map((one) => ({
        ...{ id: one.id, name: one.name, state: stateOf(one, nowMs) },
        providerId: `gce://${one.project}/${one.zone}/${one.name}`,
      })),
    close: served.close,
  };
  return { ...(await openClusterScene(world, programs, { ...options, cloud })), compute, group };
}

export interface CrusoeNodesScene extends ClusterScene {
  readonly group: FakePool;
}

/** The same with a node pool of the simulated Crusoe. */
export async function openCrusoeNodesScene(
  world: World,
  programs: KubernetesPrograms,
  options: NodesSceneOptions,
): Promise<CrusoeNodesScene> {
  const fake = openFakeCrusoe(systemClock);
  Object.assign(fake.state.behaviour, { bootMs: options.bootMs ?? 2_000, endMs: 500, operationMs: 500 });
  const group = fake.addPool('grp-a', 0);
  group.settings = { ...group.settings, node_labels: { [POOL_LABEL]: options.pool }, node_taints: [] };
  const served = await serveFake((request) => {
    const { pathname, search } = new URL(request.url);
    return fake.handle(new Request(`https://api.cloud.crusoe.ai${pathname}${search}`, request));
  }, {});
  const stateOf = (vm: FakeVm, nowMs: number): JoiningMachine['state'] => {
    const state = vmState(vm, nowMs);
    return state === 'RUNNING' ? 'running' : state === 'GONE' ? 'gone' : 'other';
  };
  const cloud: SimulatedCloud = {
    account: {
      crusoe: {
        ...{ project_id: CRUSOE_PROJECT, access_key: ACCESS_KEY, secret_key: SECRET_KEY },
        endpoint: `${served.address}/v1`,
      },
    },
    machines: (nowMs) =>
      group.vms.map((vm) => ({
        ...{ id: vm.id, name: vm.name, state: stateOf(vm, nowMs) },
        providerId: `crusoe://${vm.id}`,
      })),
    close: served.close,
  };
  return { ...(await openClusterScene(world, programs, { ...options, cloud })), group };
}

/** A NodeProvisioner for the group of the scene. */
export const provisionerOf = (name: string, spec: object = {}): object => ({
  apiVersion: 'compute.baseten.co/v1alpha1',
  kind: 'NodeProvisioner',
  metadata: { name },
  spec: { existingInstanceGroupNames: ['grp-a'], ...spec },
});

export interface GpuPod {
  readonly name: string;
  readonly gpus: number;
  /** The nodes that it may go to. */
  readonly on: Readonly<Record<string, string>>;
  readonly node?: string;
}

/** A pod that runs until it is deleted. */
export function gpuPod({ name, gpus, on, node }: GpuPod): object {
  const resources = { requests: { cpu: '1', 'nvidia.com/gpu': `${gpus}` }, limits: { 'nvidia.com/gpu': `${gpus}` } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: on },
    spec: {
      nodeSelector: on,
      containers: [{ name: 'main', image: 'main:1', resources }],
      terminationGracePeriodSeconds: 0,
      ...(node && { nodeName: node }),
    },
  };
}

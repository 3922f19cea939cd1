// Muster beside a real control plane, as an operator sets it up: CRD, rights, server, nodes, and agents in its pods.

import { until } from '#core/testing/until.ts';
import { AGENT_POOL_CRD } from '../../../src/providers/kubernetes/agent-pool/crd.ts';
import { type Api, apiOf } from '../../system/harness/api.ts';
import { type CliResult, runCli } from '../../system/harness/cli.ts';
import { placeServer, type RunningServer, startServer } from '../../system/harness/server.ts';
import type { World } from '../../system/harness/world.ts';
import { type ControlPlane, openControlPlane } from './control-plane.ts';
import type { KubernetesPrograms } from './kubernetes.ts';
import { playedNode } from './kwok.ts';
import { type PodAgents, startPodAgents } from './pod-agents.ts';
import { grantRights } from './rights.ts';

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: { readonly phase?: string };
}

export interface AgentPool {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
  };
  readonly status?: {
    readonly phase: string;
    readonly ready: number;
    readonly idle: number;
    readonly busy: number;
    readonly desired: number;
    readonly observedGeneration: number;
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

export interface KubeScene {
  readonly world: World;
  readonly cluster: ControlPlane;
  readonly server: RunningServer;
  readonly api: Api;
  readonly agents: PodAgents;
  muster(...words: readonly string[]): Promise<CliResult>;
  pods(selector: string, namespace?: string): Promise<Pod[]>;
  pool(name: string, namespace?: string): Promise<AgentPool>;
  /** The condition of a pool as `Status Reason: message`. */
  condition(pool: string, type: string, namespace?: string): Promise<string>;
  /** Resolves when the object shows `Ready`, for its newest generation. */
  untilReady(pool: string, namespace?: string): Promise<AgentPool>;
}

/** Nodes with room for every pool of the guide. */
const NODES = [
  playedNode('node-1'),
  playedNode('gpu-1', {
    labels: { 'cloud.google.com/gke-accelerator': 'nvidia-tesla-a100' },
    allocatable: { 'nvidia.com/gpu': '8' },
    taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
  }),
];

export interface KubeSceneOptions {
  readonly namespaces: readonly string[];
  readonly moreSources?: readonly object[];
}

export async function openKubeScene(
  world: World,
  programs: KubernetesPrograms,
  { namespaces, moreSources = [] }: KubeSceneOptions,
): Promise<KubeScene> {
  // An agent of this machine connects from there, which is the proof of `agentAuth: machine`.
  const cluster = await openControlPlane(world, programs, { podAddress: '127.0.0.1' });
  await cluster.apply(...NODES, AGENT_POOL_CRD);
  await cluster.kubectl('wait', '--for=condition=Established', 'crd/agentpools.velda.io', '--timeout=120s');
  const kubeconfig = await grantRights(cluster, namespaces);
  const sources = namespaces.map((namespace) => ({ name: namespace, kubernetes: { namespace, kubeconfig } }));
  const place = await placeServer(world, { provisioners: [...sources, ...moreSources] });
  const server = await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  const agents = await startPodAgents(world, cluster, programs, `127.0.0.1:${place.grpc}`);
  const address = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` };

  const scene: KubeScene = {
    world,
    cluster,
    server,
    api,
    agents,
    muster: (...words) => runCli(world, words, address),
    async pods(selector, namespace = 'default') {
      return (await cluster.get<{ items: Pod[] }>('pods', '-n', namespace, '-l', selector)).items;
    },
    pool: (name, namespace = 'default') => cluster.get<AgentPool>('agentpool', name, '-n', namespace),
    async condition(pool, type, namespace) {
      const { status } = await scene.pool(pool, namespace);
      const found = status?.conditions.find((one) => one.type === type);
      return found ? `${found.status} ${found.reason}: ${found.message}` : '';
    },
    untilReady: (pool, namespace) =>
      until(`${pool} is ready`, async () => {
        const object = await scene.pool(pool, namespace);
        const { observedGeneration, conditions = [], desired = 0 } = object.status ?? {};
        const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
        return isReady && desired > 0 && observedGeneration === object.metadata.generation && object;
      }),
  };
  return scene;
}

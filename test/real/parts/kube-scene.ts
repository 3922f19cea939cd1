// Muster beside a real control plane, as an operator sets it up: CRD, rights, server, nodes, and agents in its pods.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#core/testing/until.ts';
import type { Session } from '../../../src/api/wire/session.ts';
import { type Api, apiOf } from '../../system/harness/api.ts';
import { type CliResult, runCli } from '../../system/harness/cli.ts';
import { placeServer, type RunningServer, startServer } from '../../system/harness/server.ts';
import { ROOT, type World } from '../../system/harness/world.ts';
import { type ControlPlane, type ControlPlaneOptions, openControlPlane } from './control-plane.ts';
import type { KubernetesPrograms } from './kubernetes.ts';
import { playedNode } from './kwok.ts';
import { startPodAgents } from './pod-agents.ts';
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

/** An AgentPool as a user writes it. */
export interface AgentPoolDraft {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly autoscaler: object;
    readonly template: { readonly metadata: object; readonly spec: object };
  };
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
  muster(...words: readonly string[]): Promise<CliResult>;
  pods(selector: string, namespace?: string): Promise<Pod[]>;
  pool(name: string, namespace?: string): Promise<AgentPool>;
  /** The condition of a pool as `Status Reason: message`. */
  condition(pool: string, type: string, namespace?: string): Promise<string>;
  /** Resolves when the object shows `Ready`, for its newest generation. */
  untilReady(pool: string, namespace?: string): Promise<AgentPool>;
  /** Ends the agents of these pods for good, while the pods go on. */
  silence(pods: readonly string[]): Promise<void>;
  /** Starts a session that runs until it is killed. */
  occupy(pool: string): Promise<Occupied>;
}

export interface Occupied {
  readonly id: string;
  /** The pod that it runs in. */
  readonly pod: string;
  /** Lets it end with that exit code; answers how it ended. */
  release(code: number): Promise<NonNullable<Session['end']>>;
  ended(): Promise<NonNullable<Session['end']>>;
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

const CRD = join(ROOT, 'deploy/kubernetes/agentpool-crd.yaml');

export interface KubeSceneOptions {
  readonly controlPlane?: ControlPlaneOptions;
  /** A source and rights for each; absent: one source and rights for all namespaces. */
  readonly namespaces?: readonly string[];
  readonly moreSources?: readonly object[];
  /** Pods run nothing: for figures. */
  readonly isWithoutAgents?: boolean;
  /** Through which the server reaches the API server; absent: directly. */
  readonly wayPort?: number;
  /** Of the server. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function openKubeScene(
  world: World,
  programs: KubernetesPrograms,
  { controlPlane, namespaces, moreSources = [], isWithoutAgents = false, wayPort, env = {} }: KubeSceneOptions = {},
): Promise<KubeScene> {
  // An agent of this machine connects from there, which is the proof of `agentAuth: machine`.
  const cluster = await openControlPlane(world, programs, { podAddress: '127.0.0.1', ...controlPlane });
  await cluster.apply(...NODES, readFileSync(CRD, 'utf8'));
  await cluster.kubectl('wait', '--for=condition=Established', 'crd/agentpools.velda.io', '--timeout=120s');
  const made = (namespaces ?? []).filter((name) => name !== 'default');
  for (const name of made) await cluster.kubectl('create', 'namespace', name);
  const kubeconfig = await grantRights(cluster, namespaces);
  if (wayPort !== undefined) {
    const { host } = new URL(cluster.address);
    writeFileSync(kubeconfig, readFileSync(kubeconfig, 'utf8').replaceAll(host, `127.0.0.1:${wayPort}`));
  }
  const sources = (namespaces ?? ['']).map((namespace) => ({
    name: namespace === '' ? 'all' : namespace,
    kubernetes: { namespace, kubeconfig },
  }));
  const place = await placeServer(world, { provisioners: [...sources, ...moreSources] });
  const server = await startServer(world, place, env).ready();
  const api = apiOf(world, place.http);
  const agents = isWithoutAgents
    ? undefined
    : await startPodAgents(world, cluster, programs, `127.0.0.1:${place.grpc}`);
  const address = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` };

  let sessions = 0;
  const scene: KubeScene = {
    world,
    cluster,
    server,
    api,
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
    silence: async (pods) => agents?.silence(pods),
    async occupy(pool) {
      sessions += 1;
      const file = world.path(`release-${sessions}`);
      const script = 'while [ ! -s "$1" ]; do sleep 0.1; done; read code <"$1"; exit "$code"';
      const { id } = await api.submit({ pool, command: ['sh', '-c', script, 'wait', file] });
      const { worker } = await until(`${id} runs`, async () => {
        const session = await api.session(id);
        return session.phase === 'running' && session;
      });
      const ended = () => until(`${id} ends`, async () => (await api.session(id)).end);
      return {
        id,
        pod: worker ?? '',
        ended,
        release(code) {
          writeFileSync(file, `${code}\n`);
          return ended();
        },
      };
    },
  };
  return scene;
}

/** A test pool: one idle agent, one more while a session runs. */
export function smallPool(name: string, namespace = 'default', autoscaler: object = {}): AgentPoolDraft {
  return {
    apiVersion: 'velda.io/v1',
    kind: 'AgentPool',
    metadata: { name, namespace },
    spec: {
      autoscaler: { minIdle: 1, maxIdle: 1, maxReplicas: 3, ...autoscaler },
      template: {
        metadata: { labels: { app: 'velda-agent', pool: name } },
        spec: { containers: [{ name: 'agent', image: 'veldaio/agent:latest', args: [`--pool=${name}`] }] },
      },
    },
  };
}

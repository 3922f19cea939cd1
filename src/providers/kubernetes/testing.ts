// What the tests of this provider share: the simulated cluster on a virtual clock, and a context that sees nothing else.

import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Context, Source } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { contextWithLog } from '../../conformance/backend-world.ts';
import { AGENT_POOL_CRD } from './agent-pool/crd.ts';
import { openAgentPools } from './agent-pool/source.ts';
import { BackendConfig, SourceConfig } from './config.ts';
import { openDeployments } from './deployments/backend.ts';
import { DeploymentConfig } from './deployments/config.ts';
import { type FakeKubernetes, type FakeKubernetesOptions, openFakeKubernetes } from './fake/fake-kubernetes.ts';
import { openPods } from './pods/backend.ts';

export const CLUSTER = 'cluster1';

const SERVER = 'http://cluster.test';

export interface KubeScene {
  readonly clock: VirtualClock;
  readonly fake: FakeKubernetes;
  readonly lines: string[];
  /** Another server process: it shares no client and no view with the ones before. */
  contextFor(cluster?: string): Context;
  /** Awaits a call while time passes. */
  during<T>(call: Promise<T>): Promise<T>;
  /** A call as kubectl makes it. */
  kubectl(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>;
}

export function openKubeScene(options: Partial<FakeKubernetesOptions> = {}): KubeScene {
  const clock = new VirtualClock();
  const fake = openFakeKubernetes({ clock, random: seededRandom(1), ...options });
  const lines: string[] = [];

  function contextFor(cluster = CLUSTER): Context {
    const access: ClusterAccess = {
      id: 'cluster.test',
      server: SERVER,
      credential: async () => ({ headers: {}, tls: {} }),
    };
    const parts = {
      cluster,
      clock,
      random: seededRandom(2),
      fetch: fake.fetch,
      fetchWith: () => fake.fetch,
      clusterAt: async () => access,
      dataDir: '/nowhere',
      agentCommand: [],
    };
    return contextWithLog(parts, lines);
  }

  return {
    clock,
    fake,
    lines,
    contextFor,
    during: (call) => during(clock, call),
    async kubectl(method, path, body) {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const init = { method, headers: { 'content-type': type }, ...(body ? { body: JSON.stringify(body) } : {}) };
      const response = await during(clock, fake.fetch(`${SERVER}${path}`, init));
      const answer = (await response.json()) as Readonly<Record<string, unknown>>;
      if (response.status >= 400) throw new Fault('invalid', `${method} ${path}: ${JSON.stringify(answer)}`);
      return answer;
    },
  };
}

/** Installs the CRD, as an operator does before anything else. */
export async function installCrd(scene: KubeScene): Promise<void> {
  await scene.kubectl('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', AGENT_POOL_CRD);
  await scene.clock.advance(1_000);
}

export const AGENT_POD = {
  metadata: { labels: { app: 'velda-agent' } },
  spec: { containers: [{ name: 'agent', image: 'veldaio/agent:latest', args: ['--pool=gpu'] }] },
};

export function openPodsAt(scene: KubeScene, cluster = CLUSTER, config: object = {}): Promise<Backend> {
  return openPods(BackendConfig.parse({ template: AGENT_POD, ...config }), scene.contextFor(cluster));
}

export function openDeploymentsAt(scene: KubeScene, cluster = CLUSTER, config: object = {}): Promise<Backend> {
  return openDeployments(DeploymentConfig.parse({ image: 'muster/agent:1', ...config }), scene.contextFor(cluster));
}

export function openAgentPoolsAt(scene: KubeScene, config: object = {}): Promise<Source> {
  return openAgentPools(SourceConfig.parse(config), scene.contextFor());
}

// Muster beside a real node, all in the network of the test.
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { until } from '#core/testing/until.ts';
import { sendSignal } from '#host/processes.ts';
import type { Session } from '../../../src/api/wire/session.ts';
import { AGENT_POOL_CRD } from '../../../src/providers/kubernetes/agent-pool/crd.ts';
import { everything } from '../../system/harness/living.ts';
import { placeServer } from '../../system/harness/server.ts';
import { SOURCES } from '../../system/harness/start-place.ts';
import type { World } from '../../system/harness/world.ts';
import type { ControlPlane } from './control-plane.ts';
import { startDaemon } from './daemon.ts';
import type { AgentPool } from './kube-scene.ts';
import type { KubernetesPrograms } from './kubernetes.ts';
import { AGENT_IMAGE } from './node-image.ts';
import type { NodeParts } from './node-programs.ts';
import { GATEWAY, openRealNode, type RealNode } from './real-node.ts';
import { grantRights } from './rights.ts';
import { type Ran, run } from './run.ts';

export interface NodeScene {
  readonly node: RealNode;
  /** Applies manifests of the guide, with the image and the server of this test in place of theirs. */
  apply(...manifests: readonly string[]): Promise<string>;
  muster(...words: readonly string[]): Promise<Ran>;
  session(id: string): Promise<Session>;
  /** Kills the agent of a pod, as the kernel does when memory is short. */
  killAgent(pod: string): Promise<void>;
  pool(name: string): Promise<AgentPool>;
  /** The message of a condition that is false. */
  untilFalse(pool: string, type: string): Promise<string>;
  untilReady(pool: string): Promise<void>;
}

/** Starts a node and a server; `grant` gives the server's account its rights, and answers its kubeconfig file. */
export async function openNodeScene(
  world: World,
  programs: KubernetesPrograms,
  parts: NodeParts,
  grant: (cluster: ControlPlane) => Promise<string> = (cluster) => grantRights(cluster, ['default']),
): Promise<NodeScene> {
  const node = await openRealNode(world, programs, parts);
  const { cluster, through } = node;
  await cluster.apply(AGENT_POOL_CRD);
  await cluster.kubectl('wait', '--for=condition=Established', 'crd/agentpools.velda.io', '--timeout=120s');
  const kubeconfig = await grant(cluster);
  // The agents' file of the guide names no authority.
  const config = {
    tls: { plaintext_grpc: true },
    provisioners: [{ name: 'real', kubernetes: { namespace: 'default', kubeconfig } }],
  };
  const place = await placeServer(world, config, { host: GATEWAY });
  startDaemon(world, 'server', [...through, process.execPath, SOURCES, 'server', '--config', place.file], {
    // Where no cluster is named, that of kubectl is meant.
    env: { KUBECONFIG: kubeconfig },
  });
  await until('the server serves', () => world.read('server.log').includes('"message":"serving"'));
  const ca = join(world.dataDir, 'ca.pem');
  const env = { ...world.env, MUSTER_ADDRESS: `https://${GATEWAY}:${place.http}`, MUSTER_CA: ca };
  const [first = '', ...rest] = through;

  const condition = async (pool: string, type: string) =>
    (await scene.pool(pool)).status?.conditions.find((one) => one.type === type);
  const scene: NodeScene = {
    node,
    apply(...manifests) {
      const ours = manifests.map((text) =>
        text
          .replaceAll('veldaio/agent:latest', AGENT_IMAGE)
          .replaceAll('velda-apiserver.default.svc.cluster.local:50051', `${GATEWAY}:${place.grpc}`),
      );
      return cluster.apply(...ours);
    },
    muster: (...words) => run(first, [...rest, process.execPath, SOURCES, ...words], { env }),
    async session(id) {
      return JSON.parse((await scene.muster('session', 'show', id, '-o', 'json')).out) as Session;
    },
    async killAgent(pod) {
      const agent = everything().find(
        ({ command, environment }) => command.includes('/agent/agent.mjs') && environment.includes(`AGENT_NAME=${pod}`),
      );
      if (!agent) throw new Fault('missing', `No agent runs in ${pod}.`);
      sendSignal(agent.pid, 'SIGKILL');
    },
    pool: (name) => cluster.get<AgentPool>('agentpool', name),
    untilFalse: (pool, type) =>
      until(`${type} of ${pool} is false`, async () => {
        const { status, message } = (await condition(pool, type)) ?? {};
        return status === 'False' && message;
      }),
    async untilReady(pool) {
      await until(`${pool} is ready`, async () => {
        const { desired = 0 } = (await scene.pool(pool)).status ?? {};
        return desired > 0 && (await condition(pool, 'Ready'))?.status === 'True';
      });
    },
  };
  return scene;
}

// Muster with node groups of the simulated Compute Engine, whose machines become nodes of a real control plane.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { FakeGroup } from '../../../src/providers/gcp/fake/compute/group.ts';
import type { ComputeState } from '../../../src/providers/gcp/fake/compute/state.ts';
import { addNodeGroup } from '../../../src/providers/gcp/fake/compute/testing/node-laws.ts';
import { openFakeGcp } from '../../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../../src/providers/gcp/fake/serve.ts';
import { type CliResult, runCli } from '../../system/harness/cli.ts';
import { placeServer, type RunningServer, startServer } from '../../system/harness/server.ts';
import { ROOT, type World } from '../../system/harness/world.ts';
import { ADMIN, type ControlPlane, type ControlPlaneOptions, openControlPlane } from './control-plane.ts';
import { joinNodes, POOL_LABEL } from './joined-nodes.ts';
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

export async function openNodesScene(
  world: World,
  programs: KubernetesPrograms,
  { controlPlane, bootMs = 2_000, pool, onEnd }: NodesSceneOptions,
): Promise<NodesScene> {
  const cluster = await openControlPlane(world, programs, controlPlane);
  await cluster.apply(readFileSync(CRD, 'utf8'));
  await cluster.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s');
  const fake = openFakeGcp(systemClock);
  const { compute } = fake.world;
  Object.assign(compute.behaviour, { bootMs, endMs: 500, lagMs: 0 });
  const group = addNodeGroup({ compute }, 'zones/us-central1-a', 'grp-a');
  const served = await serveGcp(fake, { port: 0 });
  const api = openKubeApi(cluster);
  const joined = joinNodes(compute, api, {
    nodeOf: () => ({ labels: { [POOL_LABEL]: pool, fleet: 'muster' }, gpus: GPUS_A_NODE }),
    failed: (error) => process.stderr.write(`${error}\n`),
  });
  onEnd(async () => {
    joined.stop();
    api.close();
    await served.close();
  });
  const place = await placeServer(world, { nodes: { accounts: [{ gce: { project: PROJECT } }] } });
  const env = {
    KUBECONFIG: cluster.kubeconfigOf(ADMIN),
    CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${served.address}/compute/v1/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
  };
  const server = await startServer(world, place, env).ready();
  return { world, cluster, api, compute, group, server, muster: (...words) => runCli(world, words) };
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

// A simulated cluster and a simulated Google Cloud, with the objects of one situation of node groups.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';

export interface NodeScene {
  /** The machines of the cloud become nodes of the cluster. */
  readonly isJoined: boolean;
  /** By name, the spec of each NodeProvisioner. */
  readonly provisioners: Readonly<Record<string, object>>;
  /** By name, the provisioner that each pod asks for and its GPUs. */
  readonly pods: Readonly<Record<string, readonly [provisioner: string, gpus: number]>>;
  /** A node of that provisioner, in none of its groups, whose machine ends after four minutes. */
  readonly endingNodeOf?: string;
}

const ENDS_AFTER_MS = 4 * 60_000;

const endingNode = (provisioner: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'ending',
    labels: { 'nodeprovisioner.compute.baseten.co/provisioner-name': provisioner },
    annotations: {
      'node.gke.io/machine-termination-datetime': new Date(systemClock.now() + ENDS_AFTER_MS).toISOString(),
    },
  },
  spec: { providerID: 'gce://my-project/us-central1-a/ending' },
});

interface Running {
  readonly program: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts `muster sim cloud …`; resolves with the variables that it prints. */
async function simulate({ program, folder, env }: Running, words: readonly string[]): Promise<Record<string, string>> {
  const child: ChildProcess = spawn(process.execPath, [program, 'sim', 'cloud', ...words], { cwd: folder, env });
  process.once('exit', () => child.kill('SIGKILL'));
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await until(`the simulated ${words[0]} runs`, () => out.includes('Ctrl-C'));
  return Object.fromEntries([...out.matchAll(/^ {2}export (\w+)='?([^'\n]+)'?$/gm)].map((one) => one.slice(1)));
}

const podOf = (name: string, [provisioner, gpus]: readonly [string, number]): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    nodeSelector: { 'nodeprovisioner.compute.baseten.co/provisioner-name': provisioner },
    containers: [{ name, image: name, resources: { limits: { 'nvidia.com/gpu': gpus } } }],
  },
});

/** The variables for a server that sizes the nodes of this scene. */
export async function openNodeScene(
  running: Running & { readonly crd: string },
  { isJoined, provisioners, pods, endingNodeOf }: NodeScene,
): Promise<Readonly<Record<string, string>>> {
  const { KUBECONFIG = '' } = await simulate(running, ['kubernetes']);
  const cloud = await simulate(running, ['gcp', ...(isJoined ? ['--kubeconfig', KUBECONFIG] : [])]);
  const server = /server: (\S+)/.exec(readFileSync(KUBECONFIG, 'utf8'))?.[1] ?? '';
  const apply = async (path: string, object: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${server}${path}`, { method: 'POST', headers, body: object });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
  };
  await apply('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', running.crd);
  const kind = { apiVersion: 'compute.baseten.co/v1alpha1', kind: 'NodeProvisioner' };
  for (const [name, spec] of Object.entries(provisioners))
    await apply(
      '/apis/compute.baseten.co/v1alpha1/nodeprovisioners',
      JSON.stringify({ ...kind, metadata: { name }, spec }),
    );
  for (const [name, asked] of Object.entries(pods))
    await apply('/api/v1/namespaces/default/pods', JSON.stringify(podOf(name, asked)));
  if (endingNodeOf !== undefined) await apply('/api/v1/nodes', JSON.stringify(endingNode(endingNodeOf)));
  return { ...cloud, KUBECONFIG };
}

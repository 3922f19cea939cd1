import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { listen } from '#fakes/listen.ts';
import { type FakeKubernetes, type FakeKubernetesOptions, openFakeKubernetes } from './fake-kubernetes.ts';
import { processRunner } from './pods/real/process-runner.ts';

export interface ServeKubernetesOptions extends Omit<FakeKubernetesOptions, 'runner'> {
  /** 0 or undefined: any free port. */
  readonly port?: number | undefined;
  /** Where pods have their files; default: a temporary folder, which goes at the end. */
  readonly folder?: string | undefined;
  /** What starts the agent's program; empty: no pod runs a process. */
  readonly agentCommand?: readonly string[] | undefined;
}

/** A simulated cluster on loopback, whose pods are processes of this computer. */
export interface ServedKubernetes {
  readonly fake: FakeKubernetes;
  readonly address: string;
  readonly folder: string;
  /** A file for `KUBECONFIG`. */
  readonly kubeconfig: string;
  /** SIGKILL for the processes of a pod: its containers restart. */
  killContainer(namespace: string, name: string): void;
  close(): Promise<void>;
}

const NAME = 'muster-sim';

const kubeconfigFor = (server: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server } }],
    users: [{ name: NAME, user: {} }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace: 'default' } }],
    'current-context': NAME,
  });

export async function serveKubernetes(options: ServeKubernetesOptions): Promise<ServedKubernetes> {
  const { folder: wanted, port = 0, agentCommand = [] } = options;
  const folder = wanted ?? mkdtempSync(join(tmpdir(), 'muster-cluster-'));
  mkdirSync(folder, { recursive: true });
  const runner = processRunner({
    clock: options.clock,
    folder,
    agentCommand,
    lookup: (namespace) => (plural, name) => fake.object(plural, namespace, name),
  });
  const fake: FakeKubernetes = openFakeKubernetes({ ...options, runner });
  const listener = await listen(port, (request) => fake.handle(request)).catch((thrown: unknown) => {
    if (wanted === undefined) rmSync(folder, { recursive: true, force: true });
    throw thrown;
  });
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(listener.address), { mode: 0o600 });
  return {
    fake,
    address: listener.address,
    folder,
    kubeconfig,
    killContainer: (namespace, name) => runner.kill(fake.object('pods', namespace, name)?.metadata.uid ?? ''),
    async close() {
      fake.watches.cut();
      await listener.close();
      await runner.close();
      if (wanted === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

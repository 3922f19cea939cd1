import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Cli, CliCommand, KubeInstallOptions, KubeReleaseOptions, Local } from './command.ts';
import { withExamples } from './example.ts';
import { named, whole } from './option.ts';
import { print, remark } from './terminal.ts';

const list = (option: string) => {
  const name = named(option);
  return (text: string, before: readonly string[] = []): readonly string[] => [...before, name(text)];
};

const SERVER_NAMESPACE = [
  '--namespace <name>',
  'namespace of the server (default: velda)',
  named('--namespace'),
] as const;
const SERVED = [
  '--serve <namespace>',
  'serve the AgentPools of this namespace only; repeatable (default: all)',
] as const;

const COMPUTERS = ['--computers', 'also let it make the Deployments, Services and Secrets of computers'] as const;

const NODES = ['--nodes', 'also let it size GPU node groups by NodeProvisioner objects'] as const;

interface PlaceOptions {
  readonly namespace?: string;
  readonly serve?: readonly string[];
  readonly computers?: true;
  readonly nodes?: true;
}

const placeOf = ({
  namespace,
  serve,
  computers,
  nodes,
}: PlaceOptions): Pick<KubeInstallOptions, 'namespace' | 'served' | 'computers' | 'nodes'> => ({
  namespace,
  served: serve,
  computers,
  nodes,
});

/** The text ends with a line break of its own. */
const printFile = (cli: Cli, text: string): void => print(cli.terminal, text.trimEnd());

function crdCommand(cli: Cli, { kube }: Local): Command {
  const command = new Command('crd')
    .description('print the CustomResourceDefinition of AgentPools, or of NodeProvisioners')
    .option('--rules', 'with rules that the API server checks, for Kubernetes 1.25 and newer')
    .option('--nodes', 'that of NodeProvisioners instead, which size GPU node groups')
    .action(async ({ rules = false, nodes = false }: { rules?: boolean; nodes?: boolean }) =>
      printFile(cli, await kube.crd({ hasRules: rules, ofNodes: nodes })),
    );
  return withExamples(command, [
    ['muster kube crd | kubectl apply -f -', 'installs or updates it'],
    [
      'muster kube crd --rules | kubectl apply -f -',
      'the same; kubectl apply refuses AgentPools that Muster would refuse',
    ],
  ]);
}

function rbacCommand(cli: Cli, { kube }: Local): Command {
  const command = new Command('rbac')
    .description('print the service account of the server and its rights')
    .option(...SERVER_NAMESPACE)
    .option(...SERVED, list('--serve'))
    .option(...COMPUTERS)
    .option(...NODES)
    .action(async (options: PlaceOptions) => printFile(cli, await kube.rbac(placeOf(options))));
  return withExamples(command, [
    ['muster kube rbac | kubectl apply -f -', 'a ClusterRole: AgentPools of all namespaces'],
    ['muster kube rbac --serve ml | kubectl apply -f -', 'a Role: AgentPools of the namespace ml only'],
  ]);
}

interface InstallOptions extends PlaceOptions {
  readonly image?: string;
  readonly replicas?: number;
  readonly postgresSecret?: string;
  readonly storage?: string;
  readonly dryRun?: true;
}

function installCommand(cli: Cli, { kube }: Local): Command {
  const command = new Command('install')
    .description('print all manifests that run Muster in a cluster; applies nothing itself')
    .option(...SERVER_NAMESPACE)
    .option(...SERVED, list('--serve'))
    .option(...COMPUTERS)
    .option(...NODES)
    .option('--image <name>', 'image of the server (default: muster/server with the version)', named('--image'))
    .option('--replicas <number>', 'number of servers; more than 1 needs PostgreSQL', whole('--replicas', 1, 100))
    .option(
      '--postgres-secret <name>',
      'Secret whose key "url" is the PostgreSQL address; without it SQLite on a volume',
      named('--postgres-secret'),
    )
    .option('--storage <size>', 'size of the SQLite volume (default: 10Gi)', named('--storage'))
    .option('--dry-run', 'print only the manifests, without the hint how to apply them')
    .action(async (options: InstallOptions) => {
      const { image, replicas, postgresSecret, storage } = options;
      printFile(cli, await kube.install({ ...placeOf(options), image, replicas, postgresSecret, storage }));
      if (options.dryRun) return;
      remark(cli.terminal, 'nothing is applied yet. Pipe this output to "kubectl apply -f -".');
      if (options.nodes)
        remark(cli.terminal, 'then name the places of node groups under nodes.accounts in its ConfigMap.');
    });
  return withExamples(command, [
    ['muster kube install --dry-run | kubectl apply -f -', 'one server with SQLite on a volume'],
    ['muster kube install --replicas 2 --postgres-secret muster-db', 'two servers with PostgreSQL'],
  ]);
}

/** `velda` or `velda/velda-apiserver`. */
function deployment(text: string): NonNullable<KubeReleaseOptions['server']> {
  const [namespace = '', name = 'velda-apiserver', ...rest] = text.split('/');
  if (namespace !== '' && name !== '' && rest.length === 0) return { namespace, name };
  throw new Fault('invalid', `--stop-server ${text} is not NAMESPACE or NAMESPACE/DEPLOYMENT.`);
}

interface ReleaseOptions {
  readonly namespace?: readonly string[];
  readonly nodes?: true;
  readonly stopServer?: ReturnType<typeof deployment>;
  readonly context?: string;
}

function releaseCommand(cli: Cli, { kube }: Local): Command {
  const command = new Command('release')
    .description('remove the finalizer of Muster from AgentPools, before Muster leaves the cluster')
    .option('--namespace <name>', 'AgentPools of this namespace only; repeatable (default: all)', list('--namespace'))
    .option(
      '--stop-server <namespace>',
      'first scale its Deployment velda-apiserver, or NAMESPACE/NAME, to 0',
      deployment,
    )
    .option('--nodes', 'also remove the taints of Muster from nodes')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)', named('--context'))
    .action(async ({ namespace, stopServer, nodes, context }: ReleaseOptions) => {
      const options = { namespaces: namespace, server: stopServer, nodes, context, signal: cli.signal };
      const released = await kube.release(options);
      for (const key of released) print(cli.terminal, `released ${key}`);
      if (released.length === 0)
        print(
          cli.terminal,
          nodes ? 'Nothing in the cluster is held by Muster.' : 'No AgentPool has the finalizer of Muster.',
        );
    });
  return withExamples(command, [
    ['muster kube release --stop-server velda', 'after it, Muster can be uninstalled; pods and AgentPools stay'],
  ]);
}

/** Muster in a Kubernetes cluster. */
function kubeCommand(cli: Cli, local: Local): Command {
  const kube = new Command('kube').description('manifests for a Kubernetes cluster');
  for (const make of [crdCommand, rbacCommand, installCommand, releaseCommand]) kube.addCommand(make(cli, local));
  return kube;
}

export const commands: readonly CliCommand[] = [{ name: 'kube', order: 175, make: kubeCommand }];

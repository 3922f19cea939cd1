// A real Kubernetes control plane for one test: etcd, API server and, as asked, scheduler, controllers and kwok.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { World } from '../../system/harness/world.ts';
import { type Audited, openAudit } from './audit.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import type { KubernetesPrograms } from './kubernetes.ts';
import { kwokFile } from './kwok.ts';
import { type Ran, type RunOptions, run, runWell } from './run.ts';

export interface ControlPlaneOptions {
  /** Beside etcd and the API server; all of them where absent. */
  readonly parts?: readonly ('scheduler' | 'controllers' | 'kwok')[];
  /** The address of every pod that kwok plays; one each where absent. */
  readonly podAddress?: string;
  /** Where the API server listens. */
  readonly host?: string;
  readonly port?: number;
  /** Words before every command, such as those that enter a network of its own. */
  readonly through?: readonly string[];
  /** More users with tokens: `name` to groups. */
  readonly users?: Readonly<Record<string, string>>;
  readonly apiServerFlags?: readonly string[];
  /** A KubeSchedulerConfiguration, in place of the scheduler's own settings. */
  readonly scheduler?: object;
}

export interface ControlPlane {
  readonly address: string;
  /** The file of a user with a token of its own, for `KUBECONFIG`. */
  kubeconfigOf(user: string): string;
  /** Writes a kubeconfig with that token. */
  writeKubeconfig(name: string, token: string): string;
  /** Runs kubectl as administrator; answers what it printed, or throws what it complained about. */
  kubectl(...words: readonly string[]): Promise<string>;
  /** The same, whatever becomes of it. */
  tryKubectl(...words: readonly string[]): Promise<Ran>;
  /** `kubectl apply -f`, on the side of the client. */
  apply(...objects: readonly (object | string)[]): Promise<string>;
  /** `kubectl edit`, with sed for an editor. */
  edit(script: string, ...words: readonly string[]): Promise<string>;
  get<T>(...words: readonly string[]): Promise<T>;
  /** What an account has asked for, all verbs. */
  audited(user: string): readonly Audited[];
  readonly apiServer: { stop(signal?: NodeJS.Signals): Promise<void>; start(): Promise<void> };
  /** Processes by the name of their program. */
  readonly daemons: ReadonlyMap<string, Daemon>;
}

export const ADMIN = 'admin';
const KUBECTL_WITHIN_MS = 240_000;
const ETCD_QUOTA_BYTES = 4 * 1024 ** 3;

const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts:velda'] }, { level: 'None' }],
};

/** Starts it and waits until it answers; it ends with its world. */
export async function openControlPlane(
  world: World,
  { program }: KubernetesPrograms,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const { host = '127.0.0.1', through = [], parts = ['scheduler', 'controllers', 'kwok'] } = options;
  const port = options.port ?? (await freePort());
  const address = `https://${host}:${port}`;
  const daemons = new Map<string, Daemon>();
  const folder = world.path('kubernetes');
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => `kubernetes/${name}`;

  const users: Readonly<Record<string, string>> = {
    [ADMIN]: 'system:masters',
    'system:kube-scheduler': '',
    'system:kube-controller-manager': '',
    kwok: 'system:masters',
    ...options.users,
  };
  const tokens = new Map(Object.keys(users).map((user) => [user, randomBytes(16).toString('hex')]));
  const lines = Object.entries(users).map(
    ([user, groups], number) => `${tokens.get(user)},${user},${number + 1}${groups === '' ? '' : `,"${groups}"`}`,
  );
  const tokenFile = world.write(at('tokens.csv'), `${lines.join('\n')}\n`);
  // The API server reads no key in the PKCS#8 form.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = world.write(at('sa.key'), String(privateKey.export({ type: 'sec1', format: 'pem' })));
  const policy = world.write(at('audit.json'), JSON.stringify(POLICY));
  const ca = world.path(at('pki/apiserver.crt'));

  function writeKubeconfig(name: string, token: string): string {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'real', cluster: { server: address, 'certificate-authority': ca } }],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'real', context: { cluster: 'real', user: name } }],
      'current-context': 'real',
    };
    return world.write(at(`${name.replaceAll(':', '-')}.conf`), JSON.stringify(config));
  }

  const files = new Map([...tokens].map(([user, token]) => [user, writeKubeconfig(user, token)]));
  const kubeconfigOf = (user: string): string => files.get(user) ?? '';

  function start(name: Parameters<typeof program>[0], words: readonly string[]): Daemon {
    const daemon = startDaemon(world, name, [...through, program(name), ...words]);
    daemons.set(name, daemon);
    return daemon;
  }

  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  start('etcd', [
    ...['--data-dir', world.path(at('etcd')), '--unsafe-no-fsync', '--log-level', 'warn'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
    ...['--quota-backend-bytes', String(ETCD_QUOTA_BYTES)],
  ]);

  const asAdmin: RunOptions = { env: { ...world.env, KUBECONFIG: kubeconfigOf(ADMIN) }, withinMs: KUBECTL_WITHIN_MS };
  const [first = '', ...before] = [...through, program('kubectl')];
  const kubectl = (...words: readonly string[]): Promise<string> => runWell(first, [...before, ...words], asAdmin);
  const tryKubectl = (...words: readonly string[]): Promise<Ran> => run(first, [...before, ...words], asAdmin);

  async function startApiServer(): Promise<void> {
    start('kube-apiserver', [
      ...['--etcd-servers', client, '--bind-address', host, '--advertise-address', host, '--secure-port', String(port)],
      // It would publish the machine's outer address.
      ...['--endpoint-reconciler-type', 'none', '--cert-dir', world.path(at('pki'))],
      ...['--token-auth-file', tokenFile, '--authorization-mode', 'Node,RBAC'],
      ...['--service-account-issuer', 'https://kubernetes.default.svc.cluster.local'],
      ...['--service-account-key-file', key, '--service-account-signing-key-file', key],
      ...['--service-cluster-ip-range', '10.96.0.0/16', '--allow-privileged=true'],
      ...['--enable-priority-and-fairness=false', '--audit-policy-file', policy],
      ...['--audit-log-path', world.path(at('audit.log')), '--audit-log-mode', 'blocking'],
      ...(options.apiServerFlags ?? []),
    ]);
    await until('the API server is ready', async () => (await tryKubectl('get', '--raw=/readyz')).out === 'ok');
  }

  async function startController(name: 'kube-scheduler' | 'kube-controller-manager', more: readonly string[]) {
    const file = kubeconfigOf(`system:${name}`);
    // Where the scheduler has a configuration, it takes these from there alone.
    const client = { kubeconfig: file, qps: 1_000, burst: 2_000 };
    const configuration = { ...options.scheduler, clientConnection: client, leaderElection: { leaderElect: false } };
    const isConfigured = name === 'kube-scheduler' && options.scheduler !== undefined;
    start(name, [
      ...(isConfigured ? ['--config', world.write(at('scheduler.json'), JSON.stringify(configuration))] : []),
      ...['--kubeconfig', file, '--authentication-kubeconfig', file, '--authorization-kubeconfig', file],
      ...['--leader-elect=false', '--bind-address', '127.0.0.1', '--secure-port', String(await freePort())],
      ...['--kube-api-qps', '1000', '--kube-api-burst', '2000', ...more],
    ]);
  }

  async function startKwok(): Promise<void> {
    const file = world.write(at('kwok.yaml'), kwokFile(options.podAddress));
    const kwokPort = String(await freePort());
    start('kwok', [
      ...['--kubeconfig', kubeconfigOf('kwok'), '--config', file, '--node-lease-duration-seconds', '300'],
      ...['--server-address', `127.0.0.1:${kwokPort}`, '--node-ip', '127.0.0.1', '--node-port', kwokPort],
      ...['--cidr', '10.0.0.0/8'],
    ]);
  }

  await startApiServer();
  if (parts.includes('scheduler')) await startController('kube-scheduler', []);
  if (parts.includes('controllers')) {
    await startController('kube-controller-manager', [
      ...['--use-service-account-credentials=true', '--service-account-private-key-file', key, '--root-ca-file', ca],
      ...['--node-monitor-grace-period=400s', '--flex-volume-plugin-dir', world.path(at('flex'))],
    ]);
    await until('the default service account', () => kubectl('get', 'serviceaccount', 'default', '-o', 'name'));
  }
  if (parts.includes('kwok')) await startKwok();

  const audit = openAudit(world.path(at('audit.log')));
  let applied = 0;
  return {
    address,
    daemons,
    kubeconfigOf,
    writeKubeconfig,
    kubectl,
    tryKubectl,
    apply(...objects) {
      // An older kubectl takes a file that begins with an object for JSON to its end.
      const texts = ['', ...objects.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))];
      applied += 1;
      return kubectl('apply', '-f', world.write(at(`applied-${applied}.yaml`), texts.join('\n---\n')));
    },
    edit(script, ...words) {
      const env = { ...asAdmin.env, KUBE_EDITOR: `sed -i -e '${script}'` };
      return runWell(first, [...before, 'edit', ...words], { ...asAdmin, env });
    },
    get: async <T>(...words: readonly string[]) => JSON.parse(await kubectl('get', ...words, '-o', 'json')) as T,
    audited: (user) => audit.read().filter(({ user: { username } }) => username === user),
    apiServer: {
      stop: async (signal) => daemons.get('kube-apiserver')?.stop(signal),
      start: startApiServer,
    },
  };
}

import type { Clock } from '#core/clock.ts';
import type { ClusterAccess, ClusterCredential, ServerReach } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { nearest } from '#core/nearest.ts';
import { type ExecPlugin, openExecPlugin } from './exec-plugin.ts';
import {
  type InFile,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigUser,
  mergeKubeconfigs,
  pathIn,
} from './kubeconfig-file.ts';
import { openWatchedFiles, type WatchedFiles } from './watched-files.ts';

export interface ClusterAccessDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export interface KubeconfigOptions {
  /** In the order of KUBECONFIG: the first to name something wins. Files that are absent are passed over. */
  readonly paths: readonly string[];
  /** Absent: the current one. */
  readonly context?: string | undefined;
}

interface Chosen {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly server: string;
  readonly cluster: InFile<KubeconfigCluster>;
  readonly user: InFile<KubeconfigUser>;
}

function named<T>(what: string, name: string, all: ReadonlyMap<string, T>, where: string): T {
  const found = all.get(name);
  if (found !== undefined) return found;
  const meant = nearest(name, [...all.keys()]);
  const known = [...all.keys()].slice(0, 5).join(', ') || 'none';
  throw new Fault('invalid', `The kubeconfig ${where} has no ${what} ${name}.`, {
    remedy: meant ? `Did you mean ${meant}?` : `It has: ${known}.`,
  });
}

function serverOf(cluster: KubeconfigCluster, name: string): string {
  const { server = '' } = cluster;
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw new Fault('invalid', `The cluster ${name} of the kubeconfig has no address: server is "${server}".`, {
      remedy: 'Write it as https://host:port.',
    });
  const proxy = cluster['proxy-url'];
  if (proxy && !(URL.canParse(proxy) && /^(?:https?|socks5):$/.test(new URL(proxy).protocol)))
    throw new Fault('invalid', `The proxy-url of the cluster ${name} of the kubeconfig is no address.`, {
      remedy: 'Write proxy-url as http://host:port, https://host:port or socks5://host:port.',
    });
  return server.replace(/\/+$/, '');
}

function choose(config: Kubeconfig, wanted: string | undefined, where: string): Chosen {
  const name = wanted ?? config.currentContext;
  if (name === undefined)
    throw new Fault('invalid', `The kubeconfig ${where} has no current context.`, {
      remedy: 'Name one as context, or choose one with kubectl config use-context.',
    });
  const { value: context } = named('context', name, config.contexts, where);
  const cluster = named('cluster', context.cluster, config.clusters, where);
  const user = context.user ? named('user', context.user, config.users, where) : { value: {}, file: cluster.file };
  const server = serverOf(cluster.value, context.cluster);
  return { name, namespace: context.namespace || undefined, server, cluster, user };
}

const fromBase64 = (data: string): string => Buffer.from(data, 'base64').toString('utf8');

/** What is written in the file itself wins over a path, as for kubectl. */
async function textOf<T>(
  files: WatchedFiles,
  { value, file }: InFile<T>,
  key: keyof T & string,
): Promise<string | undefined> {
  const data = value[`${key}-data` as keyof T];
  if (typeof data === 'string' && data !== '') return fromBase64(data);
  const path = value[key];
  return typeof path === 'string' && path !== '' ? await files.read(pathIn(file, path)) : undefined;
}

function refuseUnsupported({ value: user }: InFile<KubeconfigUser>, name: string): void {
  if (user['auth-provider'])
    throw new Fault(
      'unsupported',
      `The context ${name} logs in by auth-provider ${user['auth-provider'].name ?? ''}.`,
      {
        remedy:
          'Kubernetes 1.26 took auth-provider out: use an exec plugin, such as gke-gcloud-auth-plugin or kubelogin.',
      },
    );
  if ((user['as-groups'] ?? []).length > 1)
    throw new Fault('unsupported', `The context ${name} acts as several groups (as-groups).`, {
      remedy: 'Use a credential that has these groups itself.',
    });
}

async function headersOf(
  files: WatchedFiles,
  { value: user, file }: InFile<KubeconfigUser>,
  pluginToken: string | undefined,
): Promise<Record<string, string>> {
  const [group] = user['as-groups'] ?? [];
  const acting = { ...(user.as && { 'impersonate-user': user.as }), ...(group && { 'impersonate-group': group }) };
  const token = user.tokenFile ? (await files.read(pathIn(file, user.tokenFile))).trim() : (user.token ?? pluginToken);
  if (token) return { ...acting, authorization: `Bearer ${token}` };
  if (!user.username) return acting;
  const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return { ...acting, authorization: `Basic ${pair}` };
}

/** An API server as a context of kubeconfig files names it; the files are read again when they change. */
export async function openKubeconfig(options: KubeconfigOptions, deps: ClusterAccessDeps): Promise<ClusterAccess> {
  const { clock, log } = deps;
  const files = openWatchedFiles(clock);
  const where = options.paths.join(':');
  let plugin: { readonly of: string; readonly run: ExecPlugin } | undefined;
  let last: { readonly of: string; readonly credential: ClusterCredential } | undefined;
  let read: { readonly of: string; readonly chosen: Chosen } | undefined;
  let lastProblem: string | undefined;

  async function chosenNow(context: string | undefined): Promise<Chosen> {
    const found: { readonly file: string; readonly text: string }[] = [];
    for (const file of options.paths) {
      const text = await files.readIfThere(file);
      if (text !== undefined) found.push({ file, text });
    }
    if (found.length === 0)
      throw new Fault('missing', `There is no kubeconfig ${where}.`, { remedy: 'Correct the path, or make the file.' });
    const of = JSON.stringify(found);
    if (read?.of !== of) read = { of, chosen: choose(mergeKubeconfigs(found), context, where) };
    return read.chosen;
  }

  const first = await chosenNow(options.context);
  refuseUnsupported(first.user, first.name);

  /** As the files are now; while someone rewrites them, as they were. */
  async function current(): Promise<Chosen> {
    try {
      // A later change of the current context is meant for kubectl, not for us.
      const chosen = await chosenNow(first.name);
      lastProblem = undefined;
      if (chosen.server === first.server) return chosen;
    } catch (thrown) {
      const { message } = Fault.from(thrown);
      if (message !== lastProblem)
        log('warn', 'kubeconfig cannot be read again', { kubeconfig: where, fault: message });
      lastProblem = message;
      return read?.chosen ?? first;
    }
    throw new Fault('invalid', `The context ${first.name} of ${where} no longer names ${first.server}.`, {
      remedy: 'Reload the configuration of the server to follow it.',
    });
  }

  function pluginOf({ user, cluster }: Chosen, ca: string | undefined): ExecPlugin | undefined {
    const { exec } = user.value;
    if (!exec) return undefined;
    const of = JSON.stringify([exec, ca]);
    if (plugin?.of !== of) {
      plugin?.run.close();
      const spec = { value: exec, file: user.file };
      plugin = { of, run: openExecPlugin({ clock, spec, cluster: cluster.value, ca }) };
    }
    return plugin.run;
  }

  async function credentialNow(chosen: Chosen, signal: AbortSignal): Promise<ClusterCredential> {
    const { cluster, user } = chosen;
    const isInsecure = cluster.value['insecure-skip-tls-verify'] === true;
    const ca = isInsecure ? undefined : await textOf(files, cluster, 'certificate-authority');
    const granted = await pluginOf(chosen, ca)?.get(signal);
    const tls: ServerReach = {
      ca,
      cert: (await textOf(files, user, 'client-certificate')) ?? granted?.cert,
      key: (await textOf(files, user, 'client-key')) ?? granted?.key,
      serverName: cluster.value['tls-server-name'] || undefined,
      isInsecure: isInsecure || undefined,
      proxyUrl: cluster.value['proxy-url'] || undefined,
    };
    return { headers: await headersOf(files, user, granted?.token), tls };
  }

  return {
    id: first.server,
    server: first.server,
    namespace: first.namespace,
    async credential(signal) {
      if (signal.aborted) throw new Fault('unavailable', `Waiting for the credential of ${first.server} was given up.`);
      const credential = await credentialNow(await current(), signal);
      const of = JSON.stringify(credential);
      // The same object for the same credential: connections are kept by it.
      if (last?.of !== of) last = { of, credential };
      return last.credential;
    },
    refused() {
      files.forget();
      plugin?.run.refused();
    },
    async close() {
      plugin?.run.close();
    },
  };
}

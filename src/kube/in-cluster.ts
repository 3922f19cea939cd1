import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { ClusterAccessDeps } from './kubeconfig.ts';
import { openWatchedFiles } from './watched-files.ts';

export interface InClusterOptions {
  /** An environment variable; empty counts as absent. */
  variable(name: string): string | undefined;
  /** Where the service account is mounted. */
  readonly folder?: string | undefined;
}

export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The API server of the cluster that we run in, by the service account of our pod; its token rotates. */
export async function openInCluster(options: InClusterOptions, { clock }: ClusterAccessDeps): Promise<ClusterAccess> {
  const { folder = SERVICE_ACCOUNT_FOLDER } = options;
  const host = options.variable('KUBERNETES_SERVICE_HOST');
  const port = options.variable('KUBERNETES_SERVICE_PORT') ?? '443';
  if (!host)
    throw new Fault('missing', 'This process runs in no Kubernetes cluster: KUBERNETES_SERVICE_HOST is not set.', {
      remedy: 'Name a kubeconfig, or run the server in a pod.',
    });
  const files = openWatchedFiles(clock);
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const mounted = async (name: string): Promise<string> =>
    (
      await files.read(join(folder, name)).catch((thrown) => {
        throw new Fault(Fault.from(thrown).kind, `The service account has no ${name} in ${folder}.`, {
          cause: thrown,
          remedy: 'Set automountServiceAccountToken in the spec of our pod to true.',
        });
      })
    ).trim();
  await mounted('token');
  let last: { readonly of: string; readonly credential: ClusterCredential } | undefined;
  return {
    id: server,
    server,
    namespace: (await files.readIfThere(join(folder, 'namespace')))?.trim() || undefined,
    async credential(signal) {
      if (signal.aborted) throw new Fault('unavailable', `Waiting for the credential of ${server} was given up.`);
      const [token, ca] = [await mounted('token'), await mounted('ca.crt')];
      const of = `${token} ${ca}`;
      if (last?.of !== of) last = { of, credential: { headers: { authorization: `Bearer ${token}` }, tls: { ca } } };
      return last.credential;
    },
    refused: () => files.forget(),
  };
}

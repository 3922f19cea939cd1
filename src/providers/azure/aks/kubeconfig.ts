import type { TlsTrust } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import { mergeKubeconfigs } from '#kube/kubeconfig-file.ts';

/** What Azure answers to listClusterUserCredential. */
export interface CredentialResults {
  readonly kubeconfigs?: readonly { readonly name?: string; readonly value?: string }[];
}

export interface Kubeconfig {
  readonly server: string;
  readonly ca: string | undefined;
  /** The local account of the cluster; absent where it wants a token of Entra. */
  readonly local?: { readonly token?: string | undefined; readonly tls: TlsTrust } | undefined;
}

const decoded = (data: string | undefined): string | undefined =>
  data ? Buffer.from(data, 'base64').toString('utf8') : undefined;

/** Reads what Azure would have kubectl use. */
export function readKubeconfig({ kubeconfigs = [] }: CredentialResults, clusterName: string): Kubeconfig {
  const text = decoded(kubeconfigs[0]?.value);
  const config = mergeKubeconfigs([{ file: `the kubeconfig of ${clusterName}`, text: text ?? '' }]);
  const context = config.contexts.get(config.currentContext ?? '')?.value;
  const cluster = config.clusters.get(context?.cluster ?? '')?.value;
  const user = config.users.get(context?.user ?? '')?.value;
  if (!cluster?.server || !user)
    throw new Fault('unavailable', `Azure gave no usable kubeconfig for the cluster ${clusterName}.`);
  const ca = decoded(cluster['certificate-authority-data']);
  const [cert, key] = [decoded(user['client-certificate-data']), decoded(user['client-key-data'])];
  const isLocal = user.token !== undefined || cert !== undefined;
  return {
    server: cluster.server.replace(/\/+$/, ''),
    ca,
    ...(isLocal && { local: { token: user.token, tls: { ca, cert, key } } }),
  };
}

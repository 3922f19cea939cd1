import type { ClusterAccess } from '#core/cluster-access.ts';
import type { Context } from '#core/provider.ts';
import { openDefaultCluster } from '#kube/default-cluster.ts';
import { openInCluster } from '#kube/in-cluster.ts';
import type { KubeconfigConfig } from './config.ts';

const variableOf =
  ({ variable }: Context) =>
  (name: string): string | undefined =>
    variable?.(name) || undefined;

/** The cluster of a kubeconfig; where none is named, the one that kubectl would use, else the one we run in. */
export function openKubeconfigCluster(config: Partial<KubeconfigConfig>, context: Context): Promise<ClusterAccess> {
  const { clock, log } = context;
  const choice = { kubeconfig: config.path, context: config.context };
  return openDefaultCluster(choice, { clock, log, variable: variableOf(context) });
}

export function openOwnCluster(_config: object, context: Context): Promise<ClusterAccess> {
  const { clock, log } = context;
  return openInCluster({ variable: variableOf(context) }, { clock, log });
}

// Which cluster is meant where none is named, in the order of kubectl, then the one that we run in.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import { openInCluster } from './in-cluster.ts';
import { type ClusterAccessDeps, openKubeconfig } from './kubeconfig.ts';

export interface ClusterChoice {
  /** A path; absent: KUBECONFIG, then `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

export interface DefaultClusterDeps extends ClusterAccessDeps {
  /** An environment variable; empty counts as absent. */
  variable(name: string): string | undefined;
  /** Where the service account is mounted, if not where Kubernetes does it. */
  readonly serviceAccountFolder?: string | undefined;
}

/** `~/x` means what a shell would make of it. */
function expandHome(path: string, home: string | undefined): string {
  return home !== undefined && path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

export async function openDefaultCluster(choice: ClusterChoice, deps: DefaultClusterDeps): Promise<ClusterAccess> {
  const { variable } = deps;
  const { context } = choice;
  const home = variable('HOME') ?? variable('USERPROFILE');
  if (choice.kubeconfig) return openKubeconfig({ paths: [expandHome(choice.kubeconfig, home)], context }, deps);

  const listed = (variable('KUBECONFIG') ?? '').split(delimiter).filter(Boolean);
  // A list of which nothing exists counts as none, for kubectl too.
  const paths = listed.filter((path) => existsSync(path));
  if (paths.length > 0) return openKubeconfig({ paths, context }, deps);

  const usual = home === undefined ? undefined : join(home, '.kube', 'config');
  if (listed.length === 0 && usual !== undefined && existsSync(usual))
    return openKubeconfig({ paths: [usual], context }, deps);

  const isInside = variable('KUBERNETES_SERVICE_HOST') !== undefined;
  if (isInside && context === undefined) return openInCluster({ variable, folder: deps.serviceAccountFolder }, deps);

  const looked = [
    listed.length > 0 ? `KUBECONFIG (${listed.join(delimiter)}: no such file)` : 'KUBECONFIG (not set)',
    ...(listed.length > 0
      ? []
      : [usual === undefined ? '~/.kube/config (HOME is not set)' : `${usual} (no such file)`]),
    isInside
      ? 'the cluster of this pod (it has no contexts)'
      : 'the cluster of this pod (KUBERNETES_SERVICE_HOST is not set)',
  ];
  throw new Fault('missing', `No Kubernetes cluster was found. Looked for: ${looked.join('; ')}.`, {
    remedy: 'Name a kubeconfig, set KUBECONFIG, or run the server in a pod.',
  });
}

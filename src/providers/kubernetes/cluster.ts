// The cluster that a configuration of this provider acts in, with the one client and the views that all share.
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { Kube } from '#kube/client.ts';
import type { Reflector, ReflectorOptions } from '#kube/reflector.ts';
import { sharedKube, sharedReflector } from '#kube/shared.ts';
import { clusterKeysOf } from './config.ts';

export interface Cluster {
  readonly access: ClusterAccess;
  readonly kube: Kube;
  /** The view of a set of objects; the reader closes it. */
  follow<T>(options: ReflectorOptions<T>): Reflector<T>;
}

export async function clusterOf(context: Context, config: Readonly<Record<string, unknown>>): Promise<Cluster> {
  const { clusterAt, fetchWith, clock, random, log } = context;
  if (!clusterAt || !fetchWith) throw new Fault('unsupported', 'No Kubernetes cluster can be opened here.');
  const access = await clusterAt(clusterKeysOf(config));
  const deps = { access, fetchWith, clock, random, log };
  return { access, kube: sharedKube(deps), follow: (options) => sharedReflector(deps, options) };
}

// One client and one view for all who read the same of one cluster.
import type { ClusterAccess } from '#core/cluster-access.ts';
import { type Kube, type KubeDeps, openKube } from './client.ts';
import type { KubeQuery } from './listing.ts';
import { openReflector, type Reflector, type ReflectorDeps, type ReflectorOptions } from './reflector.ts';
import { type KubeResource, qualifiedName } from './resource.ts';

export type SharedDeps = KubeDeps & Omit<ReflectorDeps, 'kube'>;

interface Held {
  readonly reflector: Reflector<unknown>;
  readers: number;
}

interface Shared {
  readonly kube: Kube;
  /** By what is kept of an object, then by what is read: two readers that keep different things share nothing. */
  readonly views: Map<unknown, Map<string, Held>>;
}

// Goes with the access: the server opens one for each cluster, and closes it.
const OPENED = new WeakMap<ClusterAccess, Shared>();

function sharedOf(deps: SharedDeps): Shared {
  const known = OPENED.get(deps.access);
  if (known) return known;
  const opened = { kube: openKube(deps), views: new Map() };
  OPENED.set(deps.access, opened);
  return opened;
}

const viewName = (resource: KubeResource, { namespace, labelSelector, fieldSelector }: KubeQuery): string =>
  JSON.stringify([
    qualifiedName(resource),
    resource.version,
    resource.isMetadataOnly === true,
    namespace ?? '',
    labelSelector ?? '',
    fieldSelector ?? '',
  ]);

/** The one client of that cluster. */
export const sharedKube = (deps: SharedDeps): Kube => sharedOf(deps).kube;

/** The one view of these objects; the last reader that closes it ends it. `keep` must be the same function for all. */
export function sharedReflector<T>(deps: SharedDeps, options: ReflectorOptions<T>): Reflector<T> {
  const { kube, views } = sharedOf(deps);
  const kept = views.get(options.keep) ?? new Map<string, Held>();
  views.set(options.keep, kept);
  const name = viewName(options.resource, options.query);
  const held: Held = kept.get(name) ?? { reflector: openReflector({ ...deps, kube }, options), readers: 0 };
  kept.set(name, held);
  held.readers += 1;
  const reflector = held.reflector as Reflector<T>;
  const hearing = new Set<() => void>();
  let isClosed = false;
  return {
    ...reflector,
    onChange(heard) {
      const stop = reflector.onChange(heard);
      hearing.add(stop);
      return () => {
        hearing.delete(stop);
        stop();
      };
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const stop of hearing) stop();
      held.readers -= 1;
      if (held.readers > 0) return;
      kept.delete(name);
      await reflector.close();
    },
  };
}

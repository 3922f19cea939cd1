// All objects of ours. Few are listed anew each time, which is exact; many are taken from the view, which may be seconds old.
import type { Kube } from '#kube/client.ts';
import type { KubeQuery } from '#kube/listing.ts';
import { type KubeObject, keyOfObject } from '#kube/object.ts';
import type { Reflector, ReflectorOptions } from '#kube/reflector.ts';

export interface ExactListing<T> {
  list(signal: AbortSignal): Promise<readonly T[]>;
  /** Whether the last one was an answer of the API server from its database, and so never late. */
  isExact(): boolean;
}

export interface ExactListingDeps<T extends KubeObject> extends ReflectorOptions<T> {
  readonly kube: Pick<Kube, 'list'>;
  /** The view of the same objects. */
  readonly view: Pick<Reflector<T>, 'all' | 'freshWithin' | 'ready'>;
  readonly query: KubeQuery;
}

// Their list takes the API server and us some 20 ms each; ten thousand would take a second, at every change.
const MOST_LISTED = 500;
// As late as a listing of any cloud may be; a view that was confirmed longer ago is not shown as one.
export const FRESH_WITHIN_MS = 10_000;

// A new owner waits for a listing before its first machine, and people wait for that. Long ones are spaced by what they take.
const LEAST_GAP_MS = 200;
// Each listing wakes every owner whose machines are starting: where there are thousands, a change each moment must not.
const GAP_MS_AN_OBJECT = 0.1;

/** The shortest time between two listings of so many objects on demand. */
export const leastGapMs = (objects: number): number => Math.max(LEAST_GAP_MS, GAP_MS_AN_OBJECT * objects);

export function openExactListing<T extends KubeObject>(deps: ExactListingDeps<T>): ExactListing<T> {
  const { kube, view, query, resource, keep } = deps;
  let isExact = true;

  /** The object of the view where that is the same version, so that everything read from it is the same too. */
  function sameInView(object: T): T {
    const known = view.all().get(keyOfObject(object));
    const { uid, resourceVersion } = object.metadata;
    const isSame = known?.metadata.uid === uid && known?.metadata.resourceVersion === resourceVersion;
    return isSame && known ? known : object;
  }

  return {
    async list(signal) {
      // After a start their number is not known yet.
      await view.ready(signal);
      isExact = view.all().size <= MOST_LISTED;
      if (isExact) return (await kube.list(resource, query, signal)).map((object) => sameInView(keep(object)));
      await view.freshWithin(FRESH_WITHIN_MS, signal);
      return [...view.all().values()];
    },
    isExact: () => isExact,
  };
}

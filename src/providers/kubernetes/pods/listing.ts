// All pods of ours. Few are listed anew each time, which is exact; many are taken from the view, which may be seconds old.
import type { Kube } from '#kube/client.ts';
import type { KubeQuery } from '#kube/listing.ts';
import { keyOfObject } from '#kube/object.ts';
import type { Reflector } from '#kube/reflector.ts';
import { PODS } from '#kube/resource.ts';
import { keptOfPod, type Pod } from './machine.ts';

export interface PodListing {
  list(signal: AbortSignal): Promise<readonly Pod[]>;
  /** Whether the last one was an answer of the API server from its database, and so never late. */
  isExact(): boolean;
}

export interface PodListingDeps {
  readonly kube: Pick<Kube, 'list'>;
  readonly view: Pick<Reflector<Pod>, 'all' | 'freshWithin' | 'ready'>;
  readonly query: KubeQuery;
}

// Their list takes the API server and us some 20 ms each; ten thousand would take a second, at every change.
const MOST_LISTED = 500;
// As late as a listing of any cloud may be; a view that was confirmed longer ago is not shown as one.
const FRESH_WITHIN_MS = 10_000;

export function openPodListing({ kube, view, query }: PodListingDeps): PodListing {
  let isExact = true;

  /** The pod of the view where that is the same version, so that everything read from it is the same too. */
  function sameInView(pod: Pod): Pod {
    const known = view.all().get(keyOfObject(pod));
    const { uid, resourceVersion } = pod.metadata;
    const isSame = known?.metadata.uid === uid && known?.metadata.resourceVersion === resourceVersion;
    return isSame && known ? known : pod;
  }

  return {
    async list(signal) {
      // After a start the number of pods is not known yet.
      await view.ready(signal);
      isExact = view.all().size <= MOST_LISTED;
      if (isExact) return (await kube.list(PODS, query, signal)).map((object) => sameInView(keptOfPod(object)));
      await view.freshWithin(FRESH_WITHIN_MS, signal);
      return [...view.all().values()];
    },
    isExact: () => isExact,
  };
}

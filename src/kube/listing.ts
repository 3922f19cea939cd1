import { Fault } from '#core/fault.ts';
import type { Exchange } from './exchange.ts';
import { isExpired } from './faults.ts';
import type { KubeObject } from './object.ts';
import { apiVersionOf, collectionPath, type KubeResource } from './resource.ts';

/** Which objects of a resource; without a namespace those of all. */
export interface KubeQuery {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface KubePage {
  readonly items: readonly KubeObject[];
  /** What a watch goes on from, once all pages are read. */
  readonly resourceVersion: string;
  /** What came before it counts no longer: the listing begins here, also where it had to begin again. */
  readonly isFirst: boolean;
}

interface ListBody {
  readonly items?: readonly KubeObject[] | null;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

// A page is parsed in one go. 25 pods are 150 KB, and keep other events waiting for some 5 ms of processor time; 100 for 20.
const PAGE_ITEMS = 25;
// A listing that is slower than the API server's memory (5 min) each time will not come to an end.
const MOST_BEGINNINGS = 5;

/** Reads a listing page by page; begins again where the API server has forgotten what a page goes on from. */
export async function* pagesOf(
  exchange: Exchange,
  resource: KubeResource,
  query: KubeQuery,
  signal: AbortSignal,
): AsyncGenerator<KubePage, void, undefined> {
  const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  let token: string | undefined;
  let beginnings = 1;
  for (;;) {
    const { labelSelector, fieldSelector, namespace } = query;
    const request = {
      verb: 'list',
      method: 'GET',
      resource,
      namespace,
      path: collectionPath(resource, namespace),
      query: { labelSelector, fieldSelector, limit: PAGE_ITEMS, continue: token },
    } as const;
    const body: ListBody | undefined = await exchange.ask<ListBody>(request, signal).catch((thrown: unknown) => {
      if (token === undefined || !isExpired(thrown) || beginnings === MOST_BEGINNINGS) throw thrown;
      return undefined;
    });
    if (body === undefined) {
      beginnings += 1;
      token = undefined;
      continue;
    }
    const { resourceVersion, continue: next = '' } = body.metadata ?? {};
    // An empty list has `items: null` or `[]`; anything without a version is no list.
    if (resourceVersion === undefined)
      throw new Fault('unavailable', `The API server answered a list of ${resource.plural} without a version.`);
    // In a list the objects do not say what they are.
    const items = (body.items ?? []).map((item) => ({ ...typed, ...item }));
    yield { items, resourceVersion, isFirst: token === undefined };
    if (next === '') return;
    if (next === token) throw new Fault('unavailable', `The list of ${resource.plural} goes round in circles.`);
    token = next;
  }
}

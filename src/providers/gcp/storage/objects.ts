import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { retried } from '#rest/retry.ts';
import { nextPage } from '../google-api.ts';
import type { StorageApi } from './api.ts';

/** One object as a listing shows it. */
export interface ListedObject {
  readonly name: string;
  /** Another one for each content, never for another state of the metadata. */
  readonly generation: string;
  readonly bytes: number;
}

interface Item {
  readonly name?: string;
  readonly generation?: string;
  readonly size?: string;
}

interface Listing {
  readonly kind?: string;
  readonly items?: readonly Item[];
}

export interface Bucket {
  readonly api: StorageApi;
  readonly clock: Clock;
  readonly bucket: string;
}

/** No document is larger; a compressed object is measured again as it is read. */
export const MOST_BYTES = 1024 * 1024;

// As many as a page may hold.
const PAGE = 1_000;
const ITEM = 'name,generation,size';
const LISTING_KIND = 'storage#objects';

const objectOf = ({ name = '', generation = '', size = '0' }: Item): ListedObject => ({
  name,
  generation,
  bytes: Number(size),
});

function noBucket({ bucket, api }: Bucket, cause: Fault): Fault {
  return new Fault('missing', `There is no bucket ${bucket} at ${api.host}.`, {
    cause,
    remedy: 'Check the key bucket: gcloud storage ls names those of a project.',
  });
}

/** All objects below a prefix, at any depth. */
export async function listObjects(at: Bucket, prefix: string, signal: AbortSignal): Promise<readonly ListedObject[]> {
  const { api, bucket } = at;
  const path = `/b/${bucket}/o`;
  const query = { prefix: prefix || undefined, maxResults: PAGE, fields: `kind,items(${ITEM}),nextPageToken` };
  // An empty listing has no items either: only its kind tells it from the answer of somebody else.
  const items = ({ kind, items: found = [] }: Listing) => (kind === LISTING_KIND ? found.map(objectOf) : undefined);
  return api.all({ path, query, items, next: nextPage }, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    throw fault.kind === 'missing' ? noBucket(at, fault) : fault;
  });
}

const pathOf = (bucket: string, name: string): string => `/b/${bucket}/o/${encodeURIComponent(name)}`;

/** The content of exactly that generation. */
export function readObject(
  { api, clock, bucket }: Bucket,
  { name, generation }: ListedObject,
  signal: AbortSignal,
): Promise<string> {
  const query = { alt: 'media', generation };
  const request = { path: pathOf(bucket, name), query, isText: true, mostBytes: MOST_BYTES } as const;
  return retried(clock, signal, () => api.ask<string>(request, signal));
}

/** The object as it is now; nothing where it is gone. */
export async function findObject(
  { api, clock, bucket }: Bucket,
  name: string,
  signal: AbortSignal,
): Promise<ListedObject | undefined> {
  const request = { path: pathOf(bucket, name), query: { fields: ITEM } };
  try {
    return objectOf(await retried(clock, signal, () => api.ask<Item>(request, signal)));
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}

import { HOUR_MS } from '#core/clock.ts';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import { type FakeBucket, resourceOf, type StoredObject } from './bucket.ts';

export interface Listing {
  readonly bucket: FakeBucket;
  readonly query: Readonly<Record<string, unknown>>;
  readonly origin: string;
  readonly nowMs: number;
  /** How many objects a page holds at most, whatever is asked. */
  readonly largestPage: number;
  readonly emptyPages: number;
}

interface Entry {
  readonly name: string;
  /** Absent: a prefix, in the place of all that begins with it. */
  readonly object?: StoredObject;
}

/** What a listing shows: objects, and by a delimiter the folders that they would lie in. */
function entriesOf({ bucket, query }: Listing): readonly Entry[] {
  const prefix = String(query.prefix ?? '');
  const delimiter = String(query.delimiter ?? '');
  const entries: Entry[] = [];
  for (const object of bucket.sorted()) {
    if (!object.name.startsWith(prefix)) continue;
    const end = delimiter === '' ? -1 : object.name.indexOf(delimiter, prefix.length);
    if (end < 0) entries.push({ name: object.name, object });
    else {
      const name = object.name.slice(0, end + delimiter.length);
      if (entries.at(-1)?.name !== name) entries.push({ name });
    }
  }
  return entries;
}

export function listObjects(listing: Listing): Readonly<Record<string, unknown>> {
  const { bucket, query, origin, nowMs, emptyPages } = listing;
  const question = {
    of: `${bucket.name} ${query.prefix ?? ''} ${query.delimiter ?? ''}`,
    token: query.pageToken === undefined ? undefined : String(query.pageToken),
    size: Math.min(Number(query.maxResults ?? 1_000), listing.largestPage),
    nowMs,
    emptyPages,
    tokenLifeMs: HOUR_MS,
  };
  const cursor = cursorOf(question);
  if (!cursor) throw refusal('invalid', 'Invalid page token.', 400);
  const { items, token } = pageOf(
    question,
    cursor,
    inOrder(entriesOf(listing), ({ name }) => name),
  );
  const objects = items.flatMap(({ object }) => (object ? [resourceOf(bucket.name, object, origin)] : []));
  const prefixes = items.flatMap(({ name, object }) => (object ? [] : [name]));
  return {
    kind: 'storage#objects',
    ...(objects.length > 0 && { items: objects }),
    ...(prefixes.length > 0 && { prefixes }),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

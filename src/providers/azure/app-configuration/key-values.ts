// A listing of key-values, page by page; a page that has not changed since the last listing is not sent again.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { inPages } from '#rest/retry.ts';
import type { StoreApi } from './api.ts';

/** One key-value as a listing has it; without its value where its page has not changed. */
export interface KeyValue {
  readonly key: string;
  readonly etag: string;
  readonly value?: string | null;
  readonly contentType?: string | undefined;
}

interface Item {
  readonly key: string;
  readonly etag: string;
  readonly value?: string | null;
  readonly content_type?: string | null;
}

interface Listing {
  readonly items?: readonly Item[];
  readonly '@nextLink'?: string;
}

/** One page of the last listing. */
interface Page {
  readonly etag: string;
  /** Without their values: they are kept by those who asked. */
  readonly items: readonly KeyValue[];
}

export interface KeyValues {
  /** All below the prefix; `isHeld` tells whether the value of that version is there already. */
  list(isHeld: (item: KeyValue) => boolean, signal: AbortSignal): Promise<readonly KeyValue[]>;
}

const keyValueOf = ({ key, etag, value = null, content_type }: Item): KeyValue => ({
  key,
  etag,
  value,
  contentType: content_type ?? undefined,
});

/** In a filter these have a meaning of their own. */
const literal = (text: string): string => text.replace(/[*,\\]/g, (sign) => `\\${sign}`);

// What stands for "no label" in a filter.
const NO_LABEL = '\0';

/** The token for the next page: in the link of the body, or of the header where there is no body. */
function afterIn(link: string | undefined): string | undefined {
  if (!link) return undefined;
  const [, target = link] = /<([^>]+)>\s*;\s*rel="?next"?/.exec(link) ?? [];
  return new URL(target, 'https://store').searchParams.get('after') ?? undefined;
}

export interface KeyValueFilter {
  readonly prefix: string;
  readonly label: string | undefined;
  /** The others are left out. */
  isWanted(item: KeyValue): boolean;
}

export function openKeyValues(
  { api, clock }: { readonly api: StoreApi; readonly clock: Clock },
  { prefix, label, isWanted }: KeyValueFilter,
): KeyValues {
  const query = { key: `${literal(prefix)}*`, label: label === undefined ? NO_LABEL : literal(label) };
  /** The pages of the last listing, by the token that they were asked with. */
  let known: ReadonlyMap<string, Page> = new Map();

  async function readPage(
    after: string | undefined,
    last: Page | undefined,
    signal: AbortSignal,
  ): Promise<{ page: Page; items: readonly KeyValue[]; next: string | undefined }> {
    let [etag, link] = ['', ''];
    const listing = await api.ask<Listing | undefined>(
      {
        path: '/kv',
        query: { ...query, after },
        ...(last && { headers: { 'if-none-match': last.etag }, mayBeUnchanged: true }),
        heard: ({ headers }) => {
          etag = headers.get('etag') ?? '';
          link = headers.get('link') ?? '';
        },
      },
      signal,
    );
    if (last && listing === undefined) return { page: last, items: last.items, next: afterIn(link) };
    // Somebody else who answers 200 must not look like an empty store.
    if (!Array.isArray(listing?.items)) throw new Fault('unavailable', `${api.host} answered without key-values.`);
    const items = (listing.items as Item[]).map(keyValueOf).filter(isWanted);
    const page = { etag, items: items.map(({ key, etag: version }) => ({ key, etag: version })) };
    return { page, items, next: afterIn(listing['@nextLink']) };
  }

  return {
    async list(isHeld, signal) {
      const [found, pages]: [KeyValue[], Map<string, Page>] = [[], new Map()];
      await inPages(clock, signal, async (after) => {
        const last = known.get(after ?? '');
        const isKept = last !== undefined && last.etag !== '' && last.items.every(isHeld);
        const { page, items, next } = await readPage(after, isKept ? last : undefined, signal);
        pages.set(after ?? '', page);
        found.push(...items);
        return next;
      });
      known = pages;
      return found;
    },
  };
}

// Stored output, for any number of readers: those at the same place share what was read for one of them. A reader that
// waits holds one chunk, never a page, so that two hundred slow ones do not hold two hundred pages.
import type { OutputChunk } from '#core/session.ts';
import type { Store } from '#core/store.ts';

const CHUNKS_PER_PAGE = 16;
const MOST_KEPT_BYTES = 16 * 2 ** 20;

type Page = readonly OutputChunk[];

export interface OutputPlace {
  readonly session: string;
  readonly attempt: number;
  readonly afterSeq: number;
}

export interface OutputPages {
  /** The first durable chunk after that place; undefined: there was none when this was called. */
  next(place: OutputPlace): Promise<OutputChunk | undefined>;
}

/** Full pages never change; of them the last used are kept, up to a number of bytes. */
function openKept() {
  const kept = new Map<string, { readonly page: Page; readonly bytes: number }>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }

  return {
    get(key: string): Page | undefined {
      const found = kept.get(key);
      if (!found) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.page;
    },
    add(key: string, page: Page): void {
      drop(key);
      const own = page.reduce((sum, { data }) => sum + data.length, 0);
      kept.set(key, { page, bytes: own });
      bytes += own;
      for (const oldest of kept.keys()) {
        if (bytes <= MOST_KEPT_BYTES) return;
        drop(oldest);
      }
    },
  };
}

export function openOutputPages({ history }: Pick<Store, 'history'>): OutputPages {
  const kept = openKept();
  const reading = new Map<string, Promise<Page>>();

  async function read(key: string, { session, attempt }: OutputPlace, afterSeq: number): Promise<Page> {
    const page = await history.output({ session, attempt, afterSeq }, CHUNKS_PER_PAGE);
    if (page.length === CHUNKS_PER_PAGE) kept.add(key, page);
    return page;
  }

  function readOnce(key: string, place: OutputPlace, afterSeq: number): Promise<Page> {
    const promise = read(key, place, afterSeq).finally(() => reading.delete(key));
    reading.set(key, promise);
    return promise;
  }

  /** What another reader asked for earlier may lack what became durable since: only a full page holds for all. */
  async function pageAt(key: string, place: OutputPlace, afterSeq: number): Promise<Page> {
    const full = kept.get(key);
    if (full) return full;
    const earlier = reading.get(key);
    const page = earlier && (await earlier);
    if (page?.length === CHUNKS_PER_PAGE) return page;
    // One that is under way now was asked for after this reader came.
    return reading.get(key) ?? readOnce(key, place, afterSeq);
  }

  return {
    async next(place) {
      // From a place that is the same for all readers nearby. Of a full page at least one chunk comes after `afterSeq`.
      const from = place.afterSeq - (place.afterSeq % CHUNKS_PER_PAGE);
      const page = await pageAt(`${place.session}/${place.attempt}/${from}`, place, from);
      return page.find(({ seq }) => seq > place.afterSeq);
    },
  };
}

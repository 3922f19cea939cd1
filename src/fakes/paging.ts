// Pages with opaque tokens: a token is valid for the same question only, and expires.
import { Buffer } from 'node:buffer';

interface Cursor {
  /** The question that it belongs to. */
  readonly of: string;
  /** The key of the last item shown. */
  readonly after: string;
  /** Number of empty pages before the next item. */
  readonly empty: number;
  readonly atMs: number;
}

export interface PageQuestion {
  readonly of: string;
  readonly token: string | undefined;
  readonly size: number;
  readonly nowMs: number;
  /** Number of empty pages, each with a token, before every page that has items. */
  readonly emptyPages: number;
  readonly tokenLifeMs: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly token: string | undefined;
}

const write = (cursor: Cursor): string => Buffer.from(JSON.stringify(cursor)).toString('base64');

function read(token: string): Cursor | undefined {
  try {
    const cursor = JSON.parse(Buffer.from(token, 'base64').toString()) as Partial<Cursor>;
    return typeof cursor.after === 'string' ? (cursor as Cursor) : undefined;
  } catch {
    return undefined;
  }
}

/** Where to continue; undefined if the token is not ours, belongs to another question or has expired. */
export function cursorOf({ token, of, nowMs, tokenLifeMs, emptyPages }: PageQuestion): Cursor | undefined {
  if (token === undefined) return { of, after: '', empty: emptyPages, atMs: nowMs };
  const cursor = read(token);
  return cursor && cursor.of === of && nowMs - cursor.atMs <= tokenLifeMs ? cursor : undefined;
}

/** One page of what follows the cursor; `following` returns at most `count` items after a key, in the order of keys. */
export function pageOf<T>(
  question: PageQuestion,
  cursor: Cursor,
  source: { following(after: string, count: number): readonly T[]; keyOf(item: T): string },
): Page<T> {
  const { of, size, nowMs: atMs, emptyPages } = question;
  const found = source.following(cursor.after, size + 1);
  if (cursor.empty > 0 && found.length > 0) {
    return { items: [], token: write({ of, after: cursor.after, empty: cursor.empty - 1, atMs }) };
  }
  const items = found.slice(0, size);
  const last = items.at(-1);
  if (last === undefined || found.length <= size) return { items, token: undefined };
  return { items, token: write({ of, after: source.keyOf(last), empty: emptyPages, atMs }) };
}

/** For items in an array that is sorted by key. */
export function inOrder<T>(items: readonly T[], keyOf: (item: T) => string) {
  return {
    keyOf,
    following(after: string, count: number): readonly T[] {
      let [low, high] = [0, items.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (keyOf(items[middle] as T) <= after) low = middle + 1;
        else high = middle;
      }
      return items.slice(low, low + count);
    },
  };
}

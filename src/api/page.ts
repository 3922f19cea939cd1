export interface PageOf<R> {
  readonly items: readonly R[];
  /** The key after which the next page starts; absent on the last page. */
  readonly next?: string | undefined;
}

export interface Selection<R> {
  /** Unique; the list is ordered by it. */
  keyOf(row: R): string;
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order?: 'ascending' | 'descending';
}

// Sorting a few thousand at a time costs little; sorting the whole fleet for a page of it would stall the process.
const LEAST_BUFFER = 4_096;

/** One page of rows in the order of their keys, in one pass over them. */
export function selectPage<R>(
  rows: Iterable<R>,
  { keyOf, after, limit, order = 'ascending' }: Selection<R>,
): PageOf<R> {
  const sign = order === 'ascending' ? 1 : -1;
  const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -sign : sign);
  const wanted = limit + 1;
  const buffer = Math.max(LEAST_BUFFER, 4 * wanted);
  let kept: { key: string; row: R }[] = [];
  let last: string | undefined;

  function cut(): void {
    kept = kept.toSorted((a, b) => compare(a.key, b.key)).slice(0, wanted);
    if (kept.length === wanted) last = kept[wanted - 1]?.key;
  }

  for (const row of rows) {
    const key = keyOf(row);
    if (after !== undefined && compare(key, after) <= 0) continue;
    if (last !== undefined && compare(key, last) > 0) continue;
    kept.push({ key, row });
    if (kept.length >= buffer) cut();
  }
  cut();
  const items = kept.slice(0, limit);
  return {
    items: items.map(({ row }) => row),
    next: kept.length > limit ? items.at(-1)?.key : undefined,
  };
}

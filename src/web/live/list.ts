import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { HttpProblem } from '../../api/wire/problem.ts';
import type { Live } from './live.ts';
import { useLive } from './use.ts';

export interface ListOptions<T> {
  /** Without paging: `/pools?q=gpu`. */
  readonly path: string;
  /** Of the stream of changes, if it has these rows. */
  readonly table?: string;
  /** Names a row in the stream; unique. */
  readonly idOf: (row: T) => string;
  /** How often it is listed again. */
  readonly everyMs?: number;
  /** The API has no pages of it: it answers with all rows at once. */
  readonly isWhole?: boolean;
}

/** A list that loads page by page. Rows on the screen follow the server; the pages that they stand in are listed again. */
export interface List<T> {
  readonly rows: ReadonlySignal<readonly T[]>;
  /** Nothing was listed yet. */
  readonly isLoading: ReadonlySignal<boolean>;
  readonly hasMore: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<HttpProblem | undefined>;
  loadMore(): void;
  /** Which rows are on the screen: from the first up to, not with, the second. */
  show(from: number, to: number): void;
  refresh(): Promise<void>;
  start(): () => void;
}

interface Page<T> {
  readonly after: string | undefined;
  readonly rows: readonly T[];
  readonly next: string | undefined;
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

const PAGE_ROWS = 100;
/** New rows and another order come with the next listing; what rows show comes with the stream. */
const LIST_EVERY_MS = 10_000;

export function pagePath(path: string, after: string | undefined): string {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS), ...(after !== undefined && { after }) });
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

export function openList<T>(live: Live, options: ListOptions<T>): List<T> {
  const { path, table, idOf, everyMs = LIST_EVERY_MS, isWhole = false } = options;
  const pathOf = (after: string | undefined): string => (isWhole ? path : pagePath(path, after));
  const first = live.known<Listed<T>>(pathOf(undefined));
  const before = first.peek();
  const pages = signal<readonly Page<T>[]>(
    before.value ? [{ after: undefined, rows: before.value.items, next: before.value.next }] : [],
  );
  const problem = signal<HttpProblem | undefined>(before.problem);
  const shown = signal<readonly [from: number, to: number]>([0, 0]);
  /** Rows that changed while a listing was under way: it may be older than they are. */
  let changedMeanwhile: Map<string, T> | undefined;
  let asking: Promise<void> | undefined;
  let unfollow = (): void => {};
  let cancelNext = (): void => {};
  let isStopped = true;

  // A row that moved to a later page while that was listed would stand there twice.
  const rows = computed(() => {
    const seen = new Map<string, T>();
    for (const page of pages.value) for (const row of page.rows) if (!seen.has(idOf(row))) seen.set(idOf(row), row);
    return [...seen.values()];
  });

  const pageAt = (index: number): number => {
    let end = 0;
    const at = pages.peek().findIndex((page) => {
      end += page.rows.length;
      return index < end;
    });
    return at < 0 ? Math.max(0, pages.peek().length - 1) : at;
  };

  async function listPage(at: number, after: string | undefined): Promise<Page<T> | undefined> {
    changedMeanwhile ??= new Map();
    const { value, problem: why } = await live.refresh<Listed<T>>(pathOf(after));
    problem.value = why;
    if (why || !value) return undefined;
    const page = { after, rows: value.items.map((row) => changedMeanwhile?.get(idOf(row)) ?? row), next: value.next };
    // Pages behind one that now ends elsewhere begin elsewhere: they are listed anew when the reader comes there.
    const same = pages.value[at]?.next === page.next && pages.value[at] !== undefined;
    pages.value = [...pages.value.slice(0, at), page, ...(same ? pages.value.slice(at + 1) : [])];
    return page;
  }

  async function listShown(): Promise<void> {
    const [from, to] = shown.peek();
    const last = pageAt(Math.max(from, to - 1));
    let at = pageAt(from);
    let after = pages.value[at]?.after;
    for (;;) {
      const page = await listPage(at, after);
      if (!page || page.next === undefined || at >= last) return;
      after = page.next;
      at += 1;
    }
  }

  /** One at a time: two listings of one page could arrive in the wrong order. */
  function inTurn(work: () => Promise<unknown>): Promise<void> {
    asking ??= work().then(() => {
      asking = undefined;
      changedMeanwhile = undefined;
    });
    return asking;
  }

  function follow(): void {
    unfollow();
    if (table === undefined || isStopped) return;
    const ids = rows
      .peek()
      .slice(...shown.peek())
      .map(idOf);
    unfollow = live.follow({ table, ids, changed, reset: () => void refresh() });
  }

  function changed(id: string, row: unknown): void {
    if (row === undefined) return void refresh();
    changedMeanwhile?.set(id, row as T);
    pages.value = pages.value.map((page) =>
      page.rows.some((one) => idOf(one) === id)
        ? { ...page, rows: page.rows.map((one) => (idOf(one) === id ? (row as T) : one)) }
        : page,
    );
  }

  const refresh = (): Promise<void> => inTurn(listShown);

  async function listAgain(): Promise<void> {
    if (live.isVisible()) await refresh();
    if (!isStopped) again();
  }

  function again(): void {
    cancelNext = live.clock.after(everyMs, () => void listAgain());
  }

  return {
    rows,
    problem,
    isLoading: computed(() => pages.value.length === 0 && problem.value === undefined),
    hasMore: computed(() => pages.value.at(-1)?.next !== undefined),
    refresh,
    loadMore() {
      const after = pages.peek().at(-1)?.next;
      if (after !== undefined) void inTurn(() => listPage(pages.peek().length, after));
    },
    show(from, to) {
      const [wasFrom, wasTo] = shown.peek();
      if (from === wasFrom && to === wasTo) return;
      shown.value = [from, to];
      follow();
    },
    start() {
      isStopped = false;
      void refresh().then(follow);
      again();
      return () => {
        isStopped = true;
        cancelNext();
        unfollow();
      };
    },
  };
}

/** A list that lives as long as the part of the page that shows it. */
export function useList<T>(options: ListOptions<T>): List<T> {
  const live = useLive();
  const { path, table } = options;
  const list = useMemo(() => openList(live, options), [live, path, table]);
  useEffect(() => list.start(), [list]);
  return list;
}

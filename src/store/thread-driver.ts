// A driver whose database is served by a thread.
import { systemClock } from '#core/clock.ts';
import { type HistoryQueries, type Page, type RowOf, TABLES, type TableName } from '#core/store.ts';
import type { HistoryRule, HistoryRules } from '#core/table.ts';
import type { Held } from './cluster.ts';
import type { Driver, Loaded } from './driver.ts';
import type { EngineCalls, LiveRow } from './engine.ts';
import type { Link } from './link.ts';
import { type Part, partMaker } from './parts.ts';

type EngineLink = Link<EngineCalls>;

const ROWS_PER_PAGE = 2_000;
// A step holds up commits for a few milliseconds.
const ROWS_PER_FORGETTING = 200;

const isKnown = (kind: string): kind is TableName => kind in TABLES;

async function load(link: EngineLink, held: Held): Promise<Loaded> {
  const rows = new Map<TableName, RowOf<TableName>[]>();
  let after: Pick<LiveRow, 'kind' | 'id'> = { kind: '', id: '' };
  for (;;) {
    const page = await link.call('load', after, ROWS_PER_PAGE);
    for (const { kind, body } of page) {
      // What a program with other tables has left stays where it is.
      if (!isKnown(kind)) continue;
      const found = rows.get(kind);
      const row = JSON.parse(body) as RowOf<TableName>;
      if (found) found.push(row);
      else rows.set(kind, [row]);
    }
    const last = page.at(-1);
    if (!last || page.length < ROWS_PER_PAGE) return { ...held, rows };
    after = { kind: last.kind, id: last.id };
  }
}

type Filter = Readonly<Record<string, string | undefined>>;

/** How a history is asked. */
function query(link: EngineLink, of: string, rule: HistoryRule) {
  if (rule.is === 'records') {
    return async (filter: Filter, page: Page): Promise<readonly unknown[]> =>
      (await link.call('ask', { of, filter, page })).map((body) => JSON.parse(body));
  }
  return async (filter: Filter, limit: number): Promise<readonly unknown[]> => {
    const stream = { [rule.of]: filter[rule.of] };
    return (await link.call('askPieces', { of, filter, limit })).map((row) => ({ ...row, ...stream }));
  };
}

function historyQueries(link: EngineLink, histories: HistoryRules): HistoryQueries {
  async function forget(name: string, before: number, limit: number): Promise<number> {
    let gone = 0;
    while (gone < limit) {
      const step = Math.min(ROWS_PER_FORGETTING, limit - gone);
      const went = await link.call('forget', name, before, step);
      gone += went;
      if (went < step) break;
    }
    return gone;
  }
  const asked = Object.entries(histories).map(([name, rule]) => [name, query(link, name, rule)] as const);
  return { ...Object.fromEntries(asked), forget } as unknown as HistoryQueries;
}

async function write(link: EngineLink, parts: Iterable<Part>): Promise<void> {
  let last: Part | undefined;
  for (const part of parts) {
    // Waiting for the answer lets other events have their turn between two parts.
    if (last) await link.call('add', last);
    last = part;
  }
  if (last) await link.call('write', last);
}

export interface ThreadDriverOptions {
  readonly held: Held;
  readonly histories: HistoryRules;
  leaseLeftMs(): number;
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

export function threadDriver(link: EngineLink, options: ThreadDriverOptions): Driver {
  const partsOf = partMaker(options.histories);
  return {
    load: () => load(link, options.held),
    // A transaction costs both threads as much as some ten rows: what the sockets have brought by now shall share one.
    gather: () => new Promise((resolve) => systemClock.soon(resolve)),
    write: (changes) => write(link, partsOf(changes)),
    history: historyQueries(link, options.histories),
    leaseLeftMs: () => options.leaseLeftMs(),
    backup: (file) => options.backup(file),
    close: () => options.close(),
  };
}

// A driver whose database is served by a thread.
import type { HistoryName, HistoryQueries, RowOf, TableName } from '#core/store.ts';
import { TABLES } from '#core/store.ts';
import type { Held } from './cluster.ts';
import type { Driver, Loaded } from './driver.ts';
import type { EngineCalls, LiveRow } from './engine.ts';
import type { Link } from './link.ts';
import { type Part, partsOf } from './parts.ts';
import type { Question } from './queries.ts';

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

function history(link: EngineLink): HistoryQueries {
  const ask = async <R>(question: Question): Promise<readonly R[]> =>
    (await link.call('ask', question)).map((body) => JSON.parse(body) as R);

  async function forget(name: HistoryName, before: number, limit: number): Promise<number> {
    let gone = 0;
    while (gone < limit) {
      const step = Math.min(ROWS_PER_FORGETTING, limit - gone);
      const went = await link.call('forget', name, before, step);
      gone += went;
      if (went < step) break;
    }
    return gone;
  }

  return {
    events: (filter, page) => ask({ of: 'events', filter, page }),
    decisions: (filter, page) => ask({ of: 'decisions', filter, page }),
    ended: (filter, page) => ask({ of: 'ended', filter, page }),
    async output(filter, limit) {
      const rows = await link.call('askOutput', { ...filter, limit });
      return rows.map((row) => ({ ...row, session: filter.session }));
    },
    forget,
  };
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
  leaseLeftMs(): number;
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

export function threadDriver(link: EngineLink, options: ThreadDriverOptions): Driver {
  return {
    load: () => load(link, options.held),
    write: (changes) => write(link, partsOf(changes)),
    history: history(link),
    leaseLeftMs: () => options.leaseLeftMs(),
    backup: (file) => options.backup(file),
    close: () => options.close(),
  };
}

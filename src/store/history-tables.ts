// What a database must know of the histories, as plain data: it runs in another thread.
import type { HistoryRule, HistoryRules } from '#core/table.ts';
import type { Dialect } from './sql.ts';

export interface HistoryColumn {
  readonly name: string;
  readonly is: 'text' | 'time' | 'number' | 'json' | 'bytes';
}

/** One history as a table. Its bytes, where it has any, are its last column. */
export interface HistoryTable {
  readonly name: string;
  readonly columns: readonly HistoryColumn[];
  /** The columns that make a row unique, in the order in which rows are read. */
  readonly key: readonly string[];
  /** The columns that a query can name, the most selective first. */
  readonly finds: readonly string[];
  /** Columns that the index of a column holds besides it and the key. */
  readonly covers: Readonly<Record<string, readonly string[]>>;
}

const column = (is: HistoryColumn['is'], ...names: readonly string[]): HistoryColumn[] =>
  names.map((name) => ({ name, is }));

function tableOf(name: string, rule: HistoryRule): HistoryTable {
  if (rule.is === 'records') {
    const finds = Object.keys(rule.finds);
    return {
      name,
      columns: [
        ...column('text', 'id'),
        ...column('time', 'at'),
        ...column('text', ...finds),
        ...column('json', 'body'),
      ],
      key: ['id'],
      finds: ['id', ...finds],
      covers: (rule.covers ?? {}) as HistoryTable['covers'],
    };
  }
  const { of, numbers, texts } = rule;
  return {
    name,
    columns: [
      ...column('text', of),
      ...column('number', ...numbers, 'seq'),
      ...column('text', ...texts),
      ...column('time', 'at'),
      ...column('bytes', 'data'),
    ],
    key: [of, ...numbers, 'seq'],
    finds: [],
    covers: {},
  };
}

export function historyTables(histories: HistoryRules): readonly HistoryTable[] {
  return Object.entries(histories).map(([name, rule]) => tableOf(name, rule));
}

/** Where the bytes of a row are in the part that brings it. */
export const BYTES_CELLS = ['start', 'size'] as const;

/** The cells of a row on its way to the database, in this order. */
export function cellNames({ columns }: HistoryTable): readonly string[] {
  return columns.flatMap(({ name, is }) => (is === 'bytes' ? BYTES_CELLS : [name]));
}

function typeOf(is: HistoryColumn['is'], { text, bytes }: Dialect): string {
  switch (is) {
    case 'text':
      return text;
    case 'time':
      return 'DOUBLE PRECISION NOT NULL';
    case 'number':
      return 'BIGINT NOT NULL';
    case 'json':
      return 'TEXT NOT NULL';
    case 'bytes':
      return `${bytes} NOT NULL`;
  }
}

/** Makes the table and its indexes. Changing one that exists is a migration. */
export function createHistory(history: HistoryTable, dialect: Dialect): readonly string[] {
  const { name, key, finds, covers } = history;
  const columns = history.columns.map((each) => `${each.name} ${typeOf(each.is, dialect)}`);
  const indexes = finds
    .filter((found) => !key.includes(found))
    .map((found) => {
      const held = [found, ...key, ...(covers[found] ?? [])].join(', ');
      return `CREATE INDEX ${name}_by_${found} ON ${name} (${held}) WHERE ${found} IS NOT NULL`;
    });
  return [
    `CREATE TABLE ${name} (${[...columns, `PRIMARY KEY (${key.join(', ')})`].join(', ')})`,
    `CREATE INDEX ${name}_by_age ON ${name} (at)`,
    ...indexes,
  ];
}

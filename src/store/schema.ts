import type { Dialect } from './sql.ts';

/** One step from a version of the database to the next; its version is its place in the list, from 1. */
export interface Migration {
  readonly name: string;
  statements(dialect: Dialect): readonly string[];
  /** Brings a live row to its new form; `undefined` drops it. Called for each row of each table. */
  reshape?(kind: string, row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined;
}

// All live rows share one table, so that a new kind of record needs no new version. With a rowid, since rows at random
// ids are then written more than twice as fast. `at` is a float because that is what times are in the program.
const initial: Migration = {
  name: 'initial',
  statements: ({ text, bytes }) => [
    `CREATE TABLE cluster (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      id ${text} NOT NULL,
      epoch BIGINT NOT NULL,
      batch BIGINT NOT NULL,
      restored_at DOUBLE PRECISION,
      lease_ends_at DOUBLE PRECISION NOT NULL,
      advertised TEXT NOT NULL
    )`,
    `CREATE TABLE live (kind ${text} NOT NULL, id ${text} NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id))`,
    `CREATE TABLE events (
      id ${text} PRIMARY KEY,
      at DOUBLE PRECISION NOT NULL,
      kind ${text} NOT NULL,
      subject ${text} NOT NULL,
      pool ${text},
      body TEXT NOT NULL
    )`,
    'CREATE INDEX events_by_age ON events (at)',
    'CREATE INDEX events_by_subject ON events (subject, id)',
    'CREATE INDEX events_by_pool ON events (pool, id, kind) WHERE pool IS NOT NULL',
    'CREATE INDEX events_by_kind ON events (kind, id)',
    `CREATE TABLE decisions (
      id ${text} PRIMARY KEY,
      at DOUBLE PRECISION NOT NULL,
      pool ${text} NOT NULL,
      body TEXT NOT NULL
    )`,
    'CREATE INDEX decisions_by_age ON decisions (at)',
    'CREATE INDEX decisions_by_pool ON decisions (pool, id)',
    `CREATE TABLE ended (
      id ${text} PRIMARY KEY,
      at DOUBLE PRECISION NOT NULL,
      pool ${text} NOT NULL,
      key ${text},
      body TEXT NOT NULL
    )`,
    'CREATE INDEX ended_by_age ON ended (at)',
    'CREATE INDEX ended_by_pool ON ended (pool, id)',
    'CREATE INDEX ended_by_key ON ended (key, id) WHERE key IS NOT NULL',
    `CREATE TABLE output (
      session ${text} NOT NULL,
      attempt BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      stream ${text} NOT NULL,
      at DOUBLE PRECISION NOT NULL,
      data ${bytes} NOT NULL,
      PRIMARY KEY (session, attempt, seq)
    )`,
    'CREATE INDEX output_by_age ON output (at)',
  ],
};

// A decision is about any subject, not only a pool. The bodies are changed as texts: they begin with the pool, and a
// parser of JSON in the database would refuse what JSON allows.
const subjects: Migration = {
  name: 'subjects of decisions',
  statements: () => [
    'ALTER TABLE decisions RENAME COLUMN pool TO subject',
    `UPDATE decisions SET subject = 'pool/' || subject,
      body = CASE WHEN body LIKE '{"pool":"%' THEN '{"subject":"pool/' || substr(body, 10) ELSE body END`,
    'DROP INDEX decisions_by_pool',
    'CREATE INDEX decisions_by_subject ON decisions (subject, id)',
  ],
};

// Ended sessions are found by their names too.
const sessionNames: Migration = {
  name: 'names of sessions',
  statements: ({ text }) => [
    `ALTER TABLE ended ADD COLUMN name ${text}`,
    'CREATE INDEX ended_by_name ON ended (name, id) WHERE name IS NOT NULL',
  ],
};

/** Never change one that was released: add the next. The columns of `cluster` stay, for replicas of either version read them. */
export const MIGRATIONS: readonly Migration[] = [initial, subjects, sessionNames];

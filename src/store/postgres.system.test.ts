import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '#core/fault.ts';
import { append, put, type Store } from '#core/store.ts';
import { untilHolds } from '#core/testing/until.ts';
import { openPostgres } from './postgres/client.ts';
import { openStore } from './store.ts';
import { openHeld, openReplica, type TestReplica } from './testing/databases.ts';
import { PASSWORD, type SharedPostgres, sharedPostgres } from './testing/postgres.ts';
import { startProxy, type TestProxy } from './testing/proxy.ts';
import { sampleEvent, sampleWorker } from './testing/rows.ts';
import { storeLaws } from './testing/suite.ts';

let postgres: SharedPostgres;
let url: string;

async function sql(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

beforeAll(async () => {
  postgres = await sharedPostgres();
  url = await postgres.database();
});

const removeAll = async (): Promise<void> => void (await sql('DROP SCHEMA IF EXISTS muster CASCADE'));

storeLaws('PostgreSQL', async () => ({
  open: async () => (await openReplica(url)).hold(new AbortController().signal),
  remove: removeAll,
}));

describe('PostgreSQL', () => {
  let proxy: TestProxy | undefined;
  let replica: TestReplica | undefined;
  const never = new AbortController().signal;

  /** A store behind a way that can be cut. */
  async function throughProxy(fatal: (fault: Fault) => void = () => {}): Promise<{ way: TestProxy; store: Store }> {
    proxy = await startProxy(postgres.port);
    replica = await openReplica(url.replace(`:${postgres.port}/`, `:${proxy.port}/`));
    return { way: proxy, store: await openStore(await replica.hold(never), fatal) };
  }

  afterEach(async () => {
    await replica?.close();
    await proxy?.close();
    replica = undefined;
    proxy = undefined;
    await removeAll();
  });

  test('goes on when the connections are cut, without losing or repeating a commit', async () => {
    const { way, store } = await throughProxy();
    await store.commit([put('workers', sampleWorker('m-1'))]);

    way.cut();
    await store.commit([put('workers', sampleWorker('m-2'))]);
    const found = await store.history.events({}, { limit: 1, order: 'oldest first' });

    expect(found).toEqual([]);
    expect(await sql('SELECT id FROM muster.live ORDER BY id')).toEqual([{ id: 'm-1' }, { id: 'm-2' }]);
    expect(replica?.losses).toEqual([]);
  });

  test.each([
    ['small', 1],
    ['large', 5_000],
  ])('sees that a %s commit was applied although its answer was lost', async (_, rows) => {
    const { way, store } = await throughProxy();
    await store.commit([put('workers', sampleWorker('m-0'))]);
    // Of a large one, the answer to its end: the parts before it are no secret.
    way.loseAnswerTo(rows === 1 ? 'fenced:' : 'COMMIT');

    await store.commit(
      Array.from({ length: rows }, (_, at) => put('workers', sampleWorker(`m-${at}`, { askedAt: 2 }))),
    );

    expect(await sql('SELECT batch, epoch FROM muster.cluster')).toEqual([{ batch: '2', epoch: '1' }]);
    expect(await sql(`SELECT count(*)::int FROM muster.live WHERE body LIKE '%"askedAt":2%'`)).toEqual([
      { count: rows },
    ]);
  });

  test('lets no commit through that bears an old epoch', async () => {
    const faults: Fault[] = [];
    const { store } = await throughProxy((fault) => faults.push(fault));
    await store.commit([put('workers', sampleWorker('m-1'))]);
    await sql('UPDATE muster.cluster SET epoch = epoch + 1');

    const small = store.commit([put('workers', sampleWorker('m-2')), append('events', sampleEvent('1'))]);
    await expect(small).rejects.toMatchObject({ kind: 'unavailable', cause: { kind: 'stale' } });

    expect(faults).toHaveLength(1);
    expect(await sql('SELECT id FROM muster.live')).toEqual([{ id: 'm-1' }]);
    expect(await sql('SELECT id FROM muster.events')).toEqual([]);
  });

  test('lets no large commit through that bears an old epoch, nor any part of it', async () => {
    const { store } = await throughProxy();
    await sql('UPDATE muster.cluster SET epoch = epoch + 1');

    const large = store.commit(Array.from({ length: 5_000 }, (_, at) => put('workers', sampleWorker(`m-${at}`))));
    await expect(large).rejects.toMatchObject({ cause: { kind: 'stale' } });

    expect(await sql('SELECT count(*)::int FROM muster.live')).toEqual([{ count: 0 }]);
  });

  test('does not repeat a commit that the database refuses for good', async () => {
    const { store } = await throughProxy();
    await sql('DROP TABLE muster.events');

    const commit = store.commit([append('events', sampleEvent('1'))]);

    await expect(commit).rejects.toMatchObject({ kind: 'unavailable', cause: { kind: 'internal' } });
  });

  test('lets the process go when the lease runs out, and not before', async () => {
    const { way, store } = await throughProxy();
    const early = store.leaseLeftMs();

    way.silence();
    const commit = store.commit([put('workers', sampleWorker('m-1'))]);
    await expect(commit).rejects.toMatchObject({ kind: 'unavailable' });

    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThanOrEqual(3_000);
    expect(store.leaseLeftMs()).toBe(0);
    expect(replica?.losses.map(({ kind }) => kind)).toEqual(['unavailable']);
  });

  test('waits at its start for a database that is away, and says so without the password', async () => {
    const spare = await startProxy(postgres.port);
    await spare.close();
    const lines: string[] = [];
    replica = await openReplica(url.replace(`:${postgres.port}/`, `:${spare.port}/`), {
      log: (level, message, fields) => lines.push(JSON.stringify({ level, message, ...fields })),
    });

    const holding = replica.hold(never);
    await untilHolds(() => expect(lines).toHaveLength(1));
    proxy = await startProxy(postgres.port, spare.port);
    await holding;

    expect(lines[0]).toContain('"level":"warn"');
    expect(lines[0]).toContain('ECONNREFUSED');
    expect(lines.at(-1)).toContain('database answers again');
    expect(lines.join()).not.toContain(PASSWORD);
  });

  test('reports at once what waiting cannot change', async () => {
    const wrong = url.replace(PASSWORD, 'another-secret');
    const nowhere = url.replace(/\/\w+$/, '/nowhere');

    const denied = await openHeld(wrong).catch((fault: Fault) => fault);
    const missing = await openHeld(nowhere).catch((fault: Fault) => fault);

    expect(denied).toMatchObject({ kind: 'denied' });
    expect(missing).toMatchObject({ kind: 'missing' });
    expect(JSON.stringify([String(denied), String(missing)])).not.toContain('secret');
  });

  test('waits for the disk also on a server with synchronous_commit off, and ends idle transactions', async () => {
    const database = url.split('/').at(-1);
    await sql(`ALTER DATABASE ${database} SET synchronous_commit TO off`);
    const client = openPostgres(url);

    const [row] = await client.query('SHOW synchronous_commit');
    const [patience] = await client.query('SHOW idle_in_transaction_session_timeout');
    await client.close();
    await sql(`ALTER DATABASE ${database} RESET synchronous_commit`);

    expect(row).toEqual({ synchronous_commit: 'on' });
    expect(patience).toEqual({ idle_in_transaction_session_timeout: '3s' });
  });
});

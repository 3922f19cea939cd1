// The laws of a store, for every driver.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '#core/fault.ts';
import { idsFrom } from '#core/id.ts';
import type { DecisionRow } from '#core/journal.ts';
import type { EndedMachine } from '#core/machine.ts';
import { append, type Change, drop, type Page, put, type Store } from '#core/store.ts';
import type { Driver } from '../driver.ts';
import { openStore } from '../store.ts';
import { sampleEvent, sampleOutput, sampleSession, sampleWorker } from './rows.ts';

/** A database that starts empty and lasts as long as the test. */
export interface TestDatabase {
  open(): Promise<Driver>;
  remove(): Promise<void>;
}

const OLDEST: Page = { limit: 100, order: 'oldest first' };
const NEWEST: Page = { limit: 100, order: 'newest first' };
const failed = (fault: Fault): never => {
  throw fault;
};
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map((row) => row.id);

export function storeLaws(name: string, make: () => Promise<TestDatabase>): void {
  describe(`the store on ${name}`, () => {
    let database: TestDatabase;
    let store: Store;

    const restart = async (): Promise<Store> => {
      await store.close();
      store = await openStore(await database.open(), failed);
      return store;
    };

    beforeEach(async () => {
      database = await make();
      store = await openStore(await database.open(), failed);
    });
    afterEach(async () => {
      await store.close();
      await database.remove();
    });

    liveLaws(() => store, restart);
    historyLaws(() => store, restart);
    forgettingLaws(() => store);
  });
}

function liveLaws(current: () => Store, restart: () => Promise<Store>): void {
  test('keeps its cluster id and raises the epoch at each start', async () => {
    const { cluster, epoch } = current();

    const next = await restart();

    expect(cluster).toMatch(/^[a-z0-9]{8}$/);
    expect(next.cluster).toBe(cluster);
    expect([epoch, next.epoch]).toEqual([1, 2]);
    expect(next.restoredAt).toBeUndefined();
  });

  test('has after a restart what was put and not what was dropped', async () => {
    const worker = sampleWorker('m-1', { launch: 'l1', drain: { at: 5, why: 'asked: "now"\n\u{1f600}' } });
    await current().commit([put('workers', worker), put('workers', sampleWorker('m-2'))]);
    await current().commit([drop('workers', 'm-2'), put('secrets', { id: 'root', value: 'x' })]);

    const { view } = await restart();

    expect([...view.workers.all()]).toEqual([worker]);
    expect([...view.workers.by('launch', 'l1')]).toEqual([worker]);
    expect(view.secrets.get('root')).toEqual({ id: 'root', value: 'x' });
  });

  test('keeps the last of many changes of one row, within a commit and across', async () => {
    const changes = Array.from({ length: 5_000 }, (_, at): Change => {
      const id = `m-${at % 7}`;
      return at % 7 === 3 ? drop('workers', id) : put('workers', sampleWorker(id, { askedAt: at }));
    });

    void current().commit([put('workers', sampleWorker('m-3'))]);
    await current().commit(changes);
    const before = [...current().view.workers.all()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const { view } = await restart();

    expect(before.map(({ id, askedAt }) => [id, askedAt])).toHaveLength(6);
    expect([...view.workers.all()]).toEqual(before);
  });

  test('keeps ids that a database might refuse or take for equal', async () => {
    const odd = [
      '',
      '\0',
      'a\0b',
      'a\x1fb',
      'line\nline',
      '\ud800',
      '\udfff',
      '\ufffe',
      '\u{1f600}',
      "'",
      'é',
      'e\u0301',
    ];
    const long = 'x'.repeat(10_000);
    const rows = [...odd, long, `${long}y`].map((id) => sampleWorker(id));
    await current().commit(rows.map((row) => put('workers', row)));
    await current().commit([drop('workers', 'a\0b')]);

    const { view } = await restart();

    const kept = rows.filter((row) => row.id !== 'a\0b');
    expect(new Set(ids([...view.workers.all()]))).toEqual(new Set(ids(kept)));
  });

  test('forgets agents: they come back by themselves', async () => {
    const agent = {
      id: 'm-1',
      use: 'worker' as const,
      owner: 'p1',
      epoch: 1,
      slots: 1,
      labels: {},
      wire: 'muster' as const,
      version: '1',
      hostname: 'h',
      address: 'a',
      connectedAt: 1,
    };
    await current().commit([put('agents', agent)]);
    const before = current().view.agents.size;

    const { view } = await restart();

    expect([before, view.agents.size]).toEqual([1, 0]);
  });

  test('keeps a commit of many rows whole', async () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => sampleWorker(`m-${at}`, { credential: 'c'.repeat(64) }));
    await current().commit(rows.map((row) => put('workers', row)));

    const { view } = await restart();

    expect(view.workers.size).toBe(10_000);
    expect(view.workers.get('m-9999')).toEqual(rows.at(-1));
  });

  test('refuses commits after it was closed', async () => {
    const store = current();
    await restart();

    await expect(store.commit([drop('workers', 'm-1')])).rejects.toMatchObject({ kind: 'unavailable' });
  });
}

function historyLaws(current: () => Store, restart: () => Promise<Store>): void {
  test('finds events by pool, kind and subject, and by several at once', async () => {
    await current().commit([
      append('events', sampleEvent('1', { pool: 'p1', kind: 'a', subject: 's1' })),
      append('events', sampleEvent('2', { pool: 'p1', kind: 'b', subject: 's2' })),
      append('events', sampleEvent('3', { pool: 'p2', kind: 'b', subject: 's1' })),
      append('events', sampleEvent('4', { kind: 'b', subject: 's1' })),
    ]);

    const { history } = current();

    expect(ids(await history.events({}, OLDEST))).toEqual(['1', '2', '3', '4']);
    expect(ids(await history.events({ pool: 'p1' }, OLDEST))).toEqual(['1', '2']);
    expect(ids(await history.events({ kind: 'b' }, OLDEST))).toEqual(['2', '3', '4']);
    expect(ids(await history.events({ subject: 's1' }, OLDEST))).toEqual(['1', '3', '4']);
    expect(ids(await history.events({ pool: 'p1', kind: 'b' }, OLDEST))).toEqual(['2']);
    expect(ids(await history.events({ pool: 'p2', kind: 'b', subject: 's1' }, OLDEST))).toEqual(['3']);
    expect(ids(await history.events({ pool: 'p1', kind: 'b', subject: 's1' }, OLDEST))).toEqual([]);
  });

  test('turns the pages of a history both ways', async () => {
    const rows = ['1', '2', '3', '4', '5'].map((id) => append('decisions', { ...sampleDecision, id }));
    await current().commit([...rows, append('decisions', { ...sampleDecision, id: '0', subject: 'pool/p2' })]);

    const { history } = current();
    const page = async (more: Partial<Page>): Promise<string[]> =>
      ids(await history.decisions({ subject: 'pool/p1' }, { ...OLDEST, ...more }));

    expect(await page({ limit: 2 })).toEqual(['1', '2']);
    expect(await page({ limit: 2, after: '2' })).toEqual(['3', '4']);
    expect(await page({ limit: 2, order: 'newest first' })).toEqual(['5', '4']);
    expect(await page({ limit: 9, after: '3', order: 'newest first' })).toEqual(['2', '1']);
    expect(await page({ limit: 0 })).toEqual([]);
  });

  test('finds ended sessions by id, key and pool, as they were', async () => {
    const end = { at: 9, how: 'exited' as const, exitCode: 0 };
    const first = sampleSession('1', { end, key: 'k\0', startedAt: 3 });
    const second = sampleSession('2', { end, pool: 'p2' });
    await current().commit([append('ended', first), append('ended', second)]);

    const { history } = await restart();

    expect(await history.ended({ id: '1' }, OLDEST)).toEqual([first]);
    expect(await history.ended({ key: 'k\0' }, OLDEST)).toEqual([first]);
    expect(await history.ended({ pool: 'p2' }, OLDEST)).toEqual([second]);
    expect(await history.ended({ id: '1', pool: 'p2' }, OLDEST)).toEqual([]);
    expect(ids(await history.ended({}, NEWEST))).toEqual(['2', '1']);
  });

  test('finds ended machines by name, owner and time, as they were', async () => {
    const at = Date.UTC(2026, 0, 1);
    const ended = (seconds: number, more: Partial<EndedMachine>): EndedMachine => ({
      ...{ id: `${idsFrom(at + seconds * 1_000)}0000x`, machine: `m-${seconds}`, use: 'worker', owner: 'p1' },
      ...{ offer: 'o1', kind: 'sim', askedAt: at, endedAt: at + seconds * 1_000, how: 'removed' },
      ...more,
    });
    const fault = { kind: 'quota' as const, message: 'No more.' };
    const rows = [
      ended(1, { createdAt: at + 1, joinedAt: at + 2, prices: [{ from: at, perHour: 0.25 }] }),
      ended(2, { how: 'failed', fault }),
      ended(3, { owner: 'desk', use: 'computer', how: 'gone' }),
    ];
    await current().commit(rows.map((row) => append('endedMachines', row)));

    const { endedMachines } = (await restart()).history;
    const machines = async (filter: { owner?: string; machine?: string }, page: Page): Promise<readonly string[]> =>
      (await endedMachines(filter, page)).map(({ machine }) => machine);

    expect(await endedMachines({}, OLDEST)).toEqual(rows);
    expect(await machines({ owner: 'p1' }, NEWEST)).toEqual(['m-2', 'm-1']);
    expect(await machines({ machine: 'm-3' }, OLDEST)).toEqual(['m-3']);
    expect(await machines({}, { ...OLDEST, after: idsFrom(at + 2_000) })).toEqual(['m-2', 'm-3']);
    expect(await machines({ owner: 'p1' }, { ...NEWEST, after: idsFrom(at + 2_000) })).toEqual(['m-1']);
  });

  test('gives output in order of attempt and number, byte for byte', async () => {
    const every = Uint8Array.from({ length: 256 }, (_, at) => at);
    // A slice of a larger buffer, as the wire hands them out.
    const slice = Buffer.concat([Buffer.from('before'), every, Buffer.from('after')]).subarray(6, 262);
    await current().commit([
      append('output', sampleOutput('s1', 1, { attempt: 2, stream: 'stderr', at: 7.25 })),
      append('output', sampleOutput('s1', 2, { data: slice })),
      append('output', sampleOutput('s1', 1, { data: new Uint8Array() })),
      append('output', sampleOutput('s2', 1)),
    ]);

    const { history } = await restart();
    const found = await history.output({ session: 's1' }, 10);

    expect(found.map(({ attempt, seq }) => [attempt, seq])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
    expect([...(found[0]?.data ?? [9])]).toEqual([]);
    expect([...(found[1]?.data ?? [])]).toEqual([...every]);
    expect(found[2]).toMatchObject({ session: 's1', stream: 'stderr', at: 7.25 });
    expect(await history.output({ session: 's1', attempt: 1, afterSeq: 1 }, 10)).toHaveLength(1);
    expect(await history.output({ session: 's1' }, 1)).toHaveLength(1);
  });

  test('keeps a history row once, however often it comes', async () => {
    const { history } = current();
    const again = [append('events', sampleEvent('1')), append('output', sampleOutput('s1', 1))];
    await current().commit([...again, ...again]);
    await current().commit(again);

    expect(await history.events({}, OLDEST)).toHaveLength(1);
    expect(await history.output({ session: 's1' }, 10)).toHaveLength(1);
  });

  test('refuses pages that have no bound, or none that makes sense', async () => {
    const { history } = current();

    for (const limit of [-1, 0.5, 10_001, Number.POSITIVE_INFINITY, Number.NaN]) {
      await expect(history.events({}, { limit, order: 'oldest first' })).rejects.toMatchObject({ kind: 'invalid' });
      await expect(history.output({ session: 's' }, limit)).rejects.toMatchObject({ kind: 'invalid' });
    }
  });
}

const sampleDecision: DecisionRow = {
  id: '1',
  at: 1,
  subject: 'pool/p1',
  did: 'nothing',
  why: 'idle',
  facts: { idle: 3 },
};

function forgettingLaws(current: () => Store): void {
  test('forgets the oldest rows first, no more than asked for, and nothing younger', async () => {
    const at = [5, 1, 4, 2, 3];
    await current().commit(at.map((time) => append('events', sampleEvent(`e${time}`, { at: time }))));
    const { history } = current();

    const first = await history.forget('events', 4, 2);
    const afterFirst = ids(await history.events({}, OLDEST));
    const second = await history.forget('events', 4, 2);
    const afterSecond = ids(await history.events({}, OLDEST));

    expect([first, afterFirst]).toEqual([2, ['e3', 'e4', 'e5']]);
    expect([second, afterSecond]).toEqual([1, ['e4', 'e5']]);
  });

  test('forgets every kind of history by its own time', async () => {
    const end = { at: 9, how: 'exited' as const };
    await current().commit([
      append('ended', sampleSession('1', { acceptedAt: 1, end })),
      append('decisions', { ...sampleDecision, at: 9 }),
      append('output', sampleOutput('s1', 1, { at: 9 })),
      append('output', sampleOutput('s1', 2, { at: 8 })),
    ]);
    const { history } = current();

    const tooEarly = [await history.forget('ended', 9, 10), await history.forget('decisions', 9, 10)];
    const inTime = [await history.forget('ended', 10, 10), await history.forget('decisions', 10, 10)];
    const output = [await history.forget('output', 9, 10), await history.forget('output', 9, 10)];

    expect([tooEarly, inTime, output]).toEqual([
      [0, 0],
      [1, 1],
      [1, 0],
    ]);
    expect((await history.output({ session: 's1' }, 10)).map(({ seq }) => seq)).toEqual([1]);
  });

  test('forgets many rows in one go, while others commit', async () => {
    const rows = Array.from({ length: 1_500 }, (_, at) => append('events', sampleEvent(`e${at}`, { at })));
    await current().commit(rows);

    const forgetting = current().history.forget('events', 1_000, 100_000);
    await current().commit([put('workers', sampleWorker('m-1'))]);

    expect(await forgetting).toBe(1_000);
    expect(await current().history.events({}, { limit: 10_000, order: 'oldest first' })).toHaveLength(500);
  });
}

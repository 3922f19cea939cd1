import { describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { append, type Change, drop, put, type Store } from '#core/store.ts';
import { emptyDisk, memoryDriver } from './memory.ts';
import { openStore } from './store.ts';
import { sampleEvent, sampleWorker } from './testing/rows.ts';

const worker = (id: string): Change => put('workers', sampleWorker(id));
const agent = put('agents', {
  id: 'm-1',
  use: 'worker',
  owner: 'p1',
  epoch: 1,
  slots: 1,
  labels: {},
  wire: 'muster',
  version: '1',
  hostname: 'h',
  address: 'a',
  connectedAt: 1,
});

/** A store whose disk writes only when a test says so, and records what happens in which order. */
async function pausedStore({ isGathering = false } = {}) {
  const disk = emptyDisk();
  const writes: {
    readonly changes: readonly Change[];
    readonly finish: () => void;
    readonly fail: (thrown: unknown) => void;
  }[] = [];
  const faults: Fault[] = [];
  const driver = memoryDriver(disk, (changes) => {
    return new Promise((finish, fail) => writes.push({ changes, finish, fail }));
  });
  const gathered: (() => void)[] = [];
  const gather = (): Promise<void> => new Promise((resolve) => gathered.push(resolve));
  const store = await openStore({ ...driver, ...(isGathering && { gather }) }, (fault) => faults.push(fault));
  const happened: string[] = [];
  const note = (name: string, promise: Promise<void>): void => {
    promise.then(
      () => happened.push(name),
      (fault: Fault) => happened.push(`${name} refused: ${fault.kind}`),
    );
  };
  // All promise callbacks, however deeply chained, run before the next immediate.
  const settle = (): Promise<void> => new Promise((resolve) => systemClock.soon(resolve));
  return { disk, writes, faults, store, happened, note, settle, gathered };
}

describe('commit', () => {
  test('shows in memory at once and resolves only when the disk has it', async () => {
    const { store, writes, happened, note, settle } = await pausedStore();

    note('commit', store.commit([worker('m-1')]));
    await settle();
    const shownEarly = store.view.workers.get('m-1');
    const happenedEarly = [...happened];
    writes[0]?.finish();
    await settle();

    expect(shownEarly).toBeDefined();
    expect(happenedEarly).toEqual([]);
    expect(happened).toEqual(['commit']);
  });

  test('takes whatever waits as one transaction, in order', async () => {
    const { store, writes, happened, note, settle } = await pausedStore();

    note('1', store.commit([worker('m-1')]));
    await settle();
    note('2', store.commit([worker('m-2')]));
    note('3', store.commit([worker('m-3'), drop('workers', 'm-2')]));
    await settle();
    writes[0]?.finish();
    await settle();
    const afterFirst = [...happened];
    writes[1]?.finish();
    await settle();

    expect(writes.map(({ changes }) => changes.length)).toEqual([1, 3]);
    expect(writes[1]?.changes.map((change) => 'id' in change && change.id)).toEqual(['m-2', 'm-3', 'm-2']);
    expect(afterFirst).toEqual(['1']);
    expect(happened).toEqual(['1', '2', '3']);
  });

  test('of one turn of the program is one transaction', async () => {
    const { store, writes, settle } = await pausedStore();

    void store.commit([worker('m-1')]);
    void store.commit([worker('m-2')]);
    await settle();

    expect(writes).toHaveLength(1);
  });

  test('begins when the database has gathered, with all that was committed until then', async () => {
    const { store, writes, happened, note, settle, gathered } = await pausedStore({ isGathering: true });

    note('1', store.commit([worker('m-1')]));
    await settle();
    note('2', store.commit([worker('m-2')]));
    await settle();
    const writtenEarly = writes.length;
    gathered.shift()?.();
    await settle();
    note('3', store.commit([worker('m-3')]));
    writes[0]?.finish();
    await settle();

    expect(writtenEarly).toBe(0);
    expect(writes.map(({ changes }) => changes)).toEqual([[worker('m-1'), worker('m-2')]]);
    expect(happened).toEqual(['1', '2']);
    expect(gathered).toHaveLength(1);
  });

  test('made by a listener stands behind what it heard of, in memory and on disk', async () => {
    const { store, disk, writes, settle } = await pausedStore();
    store.onChange('workers', (after) => {
      if (after?.askedAt === 1) void store.commit([put('workers', { ...after, askedAt: 2 })]);
    });

    void store.commit([worker('m-1'), worker('m-2')]);
    await settle();
    writes[0]?.finish();
    await settle();

    const onDisk = [...(disk.rows.get('workers')?.values() ?? [])];
    expect(onDisk).toEqual([...store.view.workers.all()]);
    expect(onDisk).toEqual([sampleWorker('m-1', { askedAt: 2 }), sampleWorker('m-2', { askedAt: 2 })]);
  });

  test('of volatile rows needs no disk, but waits for what was committed before', async () => {
    const { store, writes, happened, note, settle } = await pausedStore();

    note('volatile', store.commit([agent]));
    await settle();
    note('durable', store.commit([worker('m-1')]));
    await settle();
    note('behind it', store.commit([agent]));
    await settle();
    const early = [...happened];
    writes[0]?.finish();
    await settle();

    expect(early).toEqual(['volatile']);
    expect(happened).toEqual(['volatile', 'durable', 'behind it']);
    expect(writes.map(({ changes }) => changes)).toEqual([[worker('m-1')]]);
  });
});

describe('durable', () => {
  test('waits for what was committed so far, writes nothing itself, and not for what comes later', async () => {
    const { store, writes, happened, note, settle } = await pausedStore();

    note('idle', store.durable());
    void store.commit([worker('m-1')]);
    await settle();
    note('first', store.durable());
    void store.commit([worker('m-2')]);
    await settle();
    note('second', store.durable());
    writes[0]?.finish();
    await settle();

    expect(happened).toEqual(['idle', 'first']);
    expect(writes).toHaveLength(2);
  });
});

describe('onDurable', () => {
  test('hears of volatile and lasting changes, in order, before those who wait for the commit', async () => {
    const { store, writes, happened, note, settle } = await pausedStore();
    store.onDurable((changes) => happened.push(`heard ${changes.length}`));

    note('commit', store.commit([worker('m-1'), agent, append('events', sampleEvent('1'))]));
    await settle();
    const early = [...happened];
    writes[0]?.finish();
    await settle();

    expect(early).toEqual([]);
    expect(happened).toEqual(['heard 3', 'commit']);
  });
});

describe('a failed write', () => {
  test('is fatal: all waiting commits are refused, and the process hears of it once', async () => {
    const { store, writes, faults, happened, note, settle } = await pausedStore();
    note('1', store.commit([worker('m-1')]));
    await settle();
    note('2', store.commit([worker('m-2')]));
    note('durable', store.durable());

    writes[0]?.fail(new Fault('internal', 'the disk is gone'));
    await settle();
    note('3', store.commit([worker('m-3')]));
    note('durable after', store.durable());
    await settle();

    expect(happened).toEqual([
      '1 refused: unavailable',
      '2 refused: unavailable',
      'durable refused: unavailable',
      '3 refused: unavailable',
      'durable after refused: unavailable',
    ]);
    expect(faults.map((fault) => fault.message)).toEqual(['The store can no longer write: the disk is gone']);
    expect(writes).toHaveLength(1);
    expect(store.view.workers.get('m-3')).toBeUndefined();
  });

  test('may be closed after', async () => {
    const { store, writes, settle } = await pausedStore();
    void store.commit([worker('m-1')]);
    await settle();
    writes[0]?.fail(new Fault('unavailable', 'the disk is gone'));
    await settle();

    await expect(store.close()).resolves.toBeUndefined();
  });
});

describe('a listener that throws', () => {
  const bug = (): never => {
    throw new Fault('internal', 'a bug');
  };
  const listen: readonly [string, (store: Store) => void][] = [
    ['onChange', (store) => store.onChange('workers', bug)],
    ['onDurable', (store) => store.onDurable(bug)],
  ];

  test.each(listen)('(%s) ends the process instead of losing commits', async (_, hear) => {
    const { store, faults, writes, settle } = await pausedStore();
    hear(store);

    void store.commit([worker('m-1')]);
    await settle();
    writes[0]?.finish();
    await settle();

    expect(faults).toHaveLength(1);
    await expect(store.commit([worker('m-2')])).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

test('a listener that throws and a disk that fails end the process once', async () => {
  const { store, faults, writes, settle } = await pausedStore();
  void store.commit([worker('m-1')]);
  await settle();
  store.onChange('workers', () => {
    throw new Fault('internal', 'a bug');
  });

  void store.commit([worker('m-2')]);
  writes[0]?.fail(new Fault('unavailable', 'the disk is gone'));
  await settle();

  expect(faults.map((fault) => fault.message)).toEqual(['The store can no longer write: a bug']);
});

describe('close', () => {
  test('waits until everything is durable, and takes nothing new', async () => {
    const { store, writes, happened, note, settle } = await pausedStore();
    note('commit', store.commit([worker('m-1')]));
    await settle();
    note('waiting', store.commit([worker('m-2')]));

    note('closed', store.close());
    note('late', store.commit([worker('m-3')]));
    await settle();
    writes[0]?.finish();
    await settle();
    writes[1]?.finish();
    await settle();

    expect(happened).toEqual(['late refused: unavailable', 'commit', 'waiting', 'closed']);
  });
});

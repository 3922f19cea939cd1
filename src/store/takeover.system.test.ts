import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { put } from '#core/store.ts';
import { untilHolds } from '#core/testing/until.ts';
import { openStore } from './store.ts';
import { type Child, durableNumbers, startChild } from './testing/child.ts';
import { openHeld, openReplica, type TestReplica } from './testing/databases.ts';
import { type SharedPostgres, sharedPostgres } from './testing/postgres.ts';

let postgres: SharedPostgres;
let url: string;
let children: Child[];
let replicas: TestReplica[];

beforeAll(async () => {
  postgres = await sharedPostgres();
});

beforeEach(async () => {
  url = await postgres.database();
  children = [];
  replicas = [];
});
afterEach(async () => {
  for (const child of children) child.process.kill('SIGKILL');
  await Promise.all([...children.map((child) => child.ended), ...replicas.map((replica) => replica.close())]);
});

const never = new AbortController().signal;

async function holdingChild(): Promise<Child> {
  const child = startChild(url);
  children.push(child);
  await child.hears((said) => said.said === 'durable' && said.number > 50);
  return child;
}

async function standby(advertised?: unknown): Promise<TestReplica> {
  const replica = await openReplica(url, { advertised });
  replicas.push(replica);
  return replica;
}

test('a standby knows the holder, and takes over after kill -9 with every durable row', async () => {
  const child = await holdingChild();
  const replica = await standby({ pid: 'mine' });
  const holding = replica.hold(never);
  await untilHolds(() => expect(replica.holder()).toMatchObject({ epoch: 1, advertised: { pid: child.process.pid } }));

  child.process.kill('SIGKILL');
  const store = await openStore(await holding, () => {});
  await child.ended;

  const missing = durableNumbers(child).filter((number) => !store.view.workers.get(`b-${number}`));
  expect(store.epoch).toBe(2);
  expect(missing).toEqual([]);
  expect(replica.holder()).toEqual({ epoch: 2, advertised: { pid: 'mine' } });
});

test('a holder that was stopped commits nothing after another has taken over', async () => {
  const child = await holdingChild();
  const replica = await standby();
  const holding = replica.hold(never);

  child.process.kill('SIGSTOP');
  const store = await openStore(await holding, () => {});
  const before = [...store.view.workers.all()].length;
  // Rows that the old holder's unfinished transaction may have touched must be free.
  await store.commit([...store.view.workers.all()].map((worker) => put('workers', { ...worker, askedAt: 99 })));
  child.process.kill('SIGCONT');
  const last = await child.hears((said) => said.said === 'refused');
  await child.ended;
  await store.close();

  const after = await openHeld(url);
  const rows = [...after.view.workers.all()];
  await after.close();
  expect(child.said).toContainEqual({ said: 'lost', kind: expect.stringMatching(/stale|unavailable/) });
  expect(last).toMatchObject({ kind: 'unavailable' });
  expect(rows.filter((worker) => worker.askedAt !== 99)).toEqual([]);
  expect(rows).toHaveLength(before);
});

test('one of many standbys takes over as soon as the holder closes', async () => {
  const holder = await openHeld(url);
  const replicas = [await standby(1), await standby(2), await standby(3)];
  const holding = replicas.map((replica) => replica.hold(never));
  await untilHolds(() => expect(replicas.map((replica) => replica.holder()?.epoch)).toEqual([1, 1, 1]));

  await holder.close();
  await Promise.race(holding);
  await untilHolds(() => expect(replicas.map((replica) => replica.holder()?.epoch)).toEqual([2, 2, 2]));

  const advertised = replicas.map((replica) => replica.holder()?.advertised);
  expect(new Set(advertised).size).toBe(1);
  for (const promise of holding) promise.catch(() => {});
});

test('replicas that start together on a new database make one cluster with one holder', async () => {
  const replicas = await Promise.all([standby(1), standby(2), standby(3)]);
  const held: number[] = [];
  for (const [at, replica] of replicas.entries()) {
    replica.hold(never).then(
      () => held.push(at),
      () => {},
    );
  }

  await untilHolds(() => expect(replicas.map((replica) => replica.holder()?.epoch)).toEqual([1, 1, 1]));

  expect(held).toHaveLength(1);
});

test('a standby that stops waiting never becomes the holder', async () => {
  const holder = await openHeld(url);
  const replica = await standby();
  const stopping = new AbortController();
  const holding = replica.hold(stopping.signal);
  await untilHolds(() => expect(replica.holder()?.epoch).toBe(1));

  stopping.abort();
  await expect(holding).rejects.toMatchObject({ kind: 'unavailable' });
  await holder.close();

  const next = await openHeld(url);
  expect(next.epoch).toBe(2);
  await next.close();
});

// Small fakes of the features behind the API: they keep their contracts towards it, and nothing more.
import { parse } from 'yaml';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { idMaker } from '#core/id.ts';
import type { Random } from '#core/random.ts';
import { scalingAt } from '#core/schedule.ts';
import type { Session } from '#core/session.ts';
import { append, type Store } from '#core/store.ts';
import type { ApiDeps } from '../deps.ts';
import { gone, poolWithSecret, row } from './rows.ts';

interface Means {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

export function fakePools({ store, clock }: Means): ApiDeps['pools'] & { readonly asked: string[] } {
  const asked: string[] = [];
  const named = (name: string) => [...store.view.pools.by('name', name)][0];
  function check(name: string, expected: number | undefined): void {
    const revision = named(name)?.revision ?? 0;
    if (expected !== undefined && expected !== revision) throw new Fault('stale', `Pool ${name} is at ${revision}.`);
  }
  return {
    asked,
    async define(text, { revision }) {
      const document: unknown = parse(text);
      const isNamed = typeof document === 'object' && document !== null && 'name' in document;
      if (!isNamed || typeof document.name !== 'string') {
        throw new Fault('invalid', 'A pool needs a name.', { at: 'name' });
      }
      check(document.name, revision);
      const before = named(document.name);
      const owner = { source: 'api', key: document.name, version: '1' };
      const pool = poolWithSecret(document.name, {
        owner,
        revision: (before?.revision ?? 0) + 1,
        changedAt: clock.now(),
      });
      await store.commit([row('pools', pool)]);
      return pool;
    },
    async remove(name, { revision }) {
      check(name, revision);
      const before = named(name) ?? poolWithSecret(name);
      const removal = { at: clock.now(), deadlineAt: clock.now() + 1_000, why: 'deleted' };
      const pool = { ...before, revision: before.revision + 1, removal };
      await store.commit([row('pools', pool)]);
      return pool;
    },
    async pause(name, isPaused) {
      const before = named(name) ?? poolWithSecret(name);
      const pool = { ...before, revision: before.revision + 1, pausedAt: isPaused ? clock.now() : undefined };
      await store.commit([row('pools', pool)]);
      return pool;
    },
    sync: (source) => void asked.push(source),
    async synced(source) {
      asked.push(source);
      return { documents: 3, read: 2, missing: 0, created: ['new'], changed: [], removing: [], held: [], waiting: [] };
    },
    timings: () => new Map(),
    foresee: async () => ({ pools: [], unchanged: [], refused: [] }),
    foreseeSync: async () => ({ pools: [], unchanged: [], refused: [] }),
    async approve(source) {
      const before = store.view.sources.get(source);
      if (before) await store.commit([row('sources', { ...before, held: undefined })]);
    },
  };
}

export function fakeWorkers({ store, clock }: Means): ApiDeps['workers'] {
  return {
    async drain(name) {
      const before = store.view.workers.get(name);
      if (!before) throw new Fault('missing', name);
      const worker = { ...before, drain: { at: clock.now(), why: 'asked' } };
      await store.commit([row('workers', worker)]);
      return worker;
    },
    async release(name) {
      const before = store.view.workers.get(name);
      if (!before) throw new Fault('missing', name);
      const worker = { ...before, drain: undefined };
      await store.commit([row('workers', worker)]);
      return worker;
    },
    async freeze(scope, why, actor) {
      const freeze = { id: scope, at: clock.now(), why, by: actor.who, automatic: false };
      await store.commit([row('freezes', freeze)]);
      return freeze;
    },
    limits: ({ spec }) => scalingAt(spec, clock.now()),
    bootWait: (worker) => (worker.joinedAt === undefined ? `waits for ${worker.machine}` : undefined),
    trouble(pool) {
      const message = store.view.pools.get(pool)?.spec.labels.trouble;
      return message === undefined ? undefined : { kind: 'quota', message };
    },
    troubled() {
      const found = Iterator.from(store.view.pools.all()).filter(({ spec }) => spec.labels.trouble !== undefined);
      return new Map(found.map(({ id, changedAt }) => [id, changedAt]));
    },
    thaw: (scope) => store.commit([gone('freezes', scope)]),
    foresee: () => ({
      actions: [],
      did: 'nothing',
      reason: { code: 'enough' },
      also: [],
      alternatives: [],
      why: 'Nothing to do.',
      unless: 'More sessions wait.',
      need: { wanted: 0, lost: 0 },
      figures: { size: 0 },
      ...{ replaced: 0, awaited: 0, replacedAfterMs: 0, offers: [] },
    }),
    plan: () => ({
      actions: [],
      did: 'nothing',
      reason: { code: 'enough' },
      also: [],
      alternatives: [],
      why: 'Nothing to do.',
      unless: 'More sessions wait.',
      need: { wanted: 0, lost: 0 },
      figures: { size: 0 },
    }),
  };
}

type FakeSessions = ApiDeps['sessions'] & {
  readonly said: string[];
  /** How many wait for the end of a session. */
  waits: number;
  /** How often something was typed while its agent was away. */
  refusals: number;
  /** What the fake agent has not taken yet. */
  waitingBytes: number;
  /** Its agent is not connected. */
  isAway: boolean;
  /** What opens tunnels; without it there are none. */
  openTunnel: ApiDeps['sessions']['tunnel'] | undefined;
  end(id: string, exitCode: number): Promise<void>;
  print(id: string, seq: number, text: string): Promise<void>;
};

export function fakeSessions({ store, clock, random }: Means): FakeSessions {
  const newId = idMaker(() => clock.now(), random);
  const byKey = new Map<string, readonly Session[]>();
  const wakeUps = new Set<() => void>();
  let version = 0;
  const said: string[] = [];
  const wake = (): void => {
    version += 1;
    for (const wakeUp of wakeUps) wakeUp();
    wakeUps.clear();
  };
  const woken = (seen: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (seen !== version || signal.aborted) return resolve();
      wakeUps.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  async function find(id: string): Promise<Session | undefined> {
    const [ended] = await store.history.ended({ id }, { limit: 1, order: 'newest first' });
    return store.view.sessions.get(id) ?? ended;
  }
  const fake: FakeSessions = {
    said,
    waits: 0,
    refusals: 0,
    waitingBytes: 0,
    isAway: false,
    openTunnel: undefined,
    async refer(text) {
      const found = await find(text);
      if (found) return found;
      throw new Fault('missing', `There is no session ${text}.`, { at: 'path.session' });
    },
    async submit(requests, actor, key) {
      const known = key === undefined ? undefined : byKey.get(`${actor.who} ${key}`);
      if (known) return known;
      const made = requests.map((request, at): Session => {
        const [pool] = store.view.pools.by('name', request.pool ?? '');
        if (!pool) throw new Fault('missing', `There is no pool ${request.pool}.`, { at: `[${at}].pool` });
        const common = { id: newId(), pool: pool.id, poolName: pool.name, attempt: 0 };
        const { spec, name, part } = request;
        return { ...common, spec, name, part, acceptedAt: clock.now(), by: actor.who };
      });
      if (key !== undefined) byKey.set(`${actor.who} ${key}`, made);
      await store.commit(made.map((session) => row('sessions', session)));
      return made;
    },
    async kill(id, force, actor) {
      const before = (await find(id)) as Session;
      const session = { ...before, kill: { at: clock.now(), by: actor.who, force } };
      await store.commit([row('sessions', session)]);
      return session;
    },
    async ended(id, signal) {
      fake.waits += 1;
      for (;;) {
        const seen = version;
        const session = await find(id);
        if (session?.end) return session;
        if (signal.aborted) throw new Fault('unavailable', 'Given up.');
        await woken(seen, signal);
      }
    },
    async *output(id, { follow, afterSeq = 0 }, signal) {
      for (let seq = afterSeq; !signal.aborted; ) {
        const seen = version;
        const isOver = (await find(id))?.end !== undefined;
        for (const chunk of await store.history.output({ session: id, afterSeq: seq }, 100)) {
          seq = chunk.seq;
          yield chunk;
        }
        if (!follow || isOver) return;
        await woken(seen, signal);
      }
    },
    input(id, data, isLast) {
      if (fake.isAway) {
        fake.refusals += 1;
        throw new Fault('unavailable', 'The agent of the session is disconnected.');
      }
      said.push(`${id} ${Buffer.from(data)}${isLast ? ' eof' : ''}`);
    },
    inputWaitingBytes: () => fake.waitingBytes,
    resize: (id, columns, rows) => void said.push(`${id} ${columns}x${rows}`),
    async machineTunnel() {
      throw new Fault('unsupported', 'There are no machines here.');
    },
    async tunnel(session, to, signal) {
      if (!fake.openTunnel) throw new Fault('unsupported', 'There are no workers here.');
      return fake.openTunnel(session, to, signal);
    },
    async end(id, exitCode) {
      const session = store.view.sessions.get(id) as Session;
      const end = { at: clock.now(), how: 'exited', exitCode } as const;
      await store.commit([gone('sessions', id), append('ended', { ...session, end })]);
      wake();
    },
    async print(id, seq, text) {
      const data = Buffer.from(text);
      await store.commit([append('output', { session: id, attempt: 1, seq, stream: 'stdout', at: clock.now(), data })]);
      wake();
    },
  };
  return fake;
}

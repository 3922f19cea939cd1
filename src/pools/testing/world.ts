// A small world for the tests of this folder: sources in memory, a reader of plain JSON, the store in memory.
import { openGate } from '#clouds/gate.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Pool, PoolSpec } from '#core/pool.ts';
import type { Document, Source } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { documentId } from '#core/source.ts';
import { someScaling } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { startJournal } from '#journal/journal.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { type Pools, type PoolsDeps, startPools } from '../pools.ts';
import type { PoolReader } from '../read-document.ts';
import type { OpenedSource } from '../registry.ts';

export const EVERY_MS = 60_000;
// Longer than the longest jittered interval, shorter than two.
export const ONE_INTERVAL_MS = EVERY_MS * 1.11;
export const ALICE = { who: 'token:alice', from: '10.0.0.7' } as const;

/** `name` and any of: max, kind, drainMs, description. */
export interface PoolText {
  readonly name: string;
  readonly max?: number;
  readonly kind?: string;
  readonly drainMs?: number;
  readonly description?: string;
}

export const text = (pool: PoolText | string): string =>
  JSON.stringify(typeof pool === 'string' ? { name: pool } : pool);

export function specOf({ name, max = 1, kind, drainMs = 3_600_000, description }: PoolText): PoolSpec {
  return {
    name,
    description,
    offers: kind ? [{ id: `offer-${kind}`, kind, config: {} }] : [],
    scaling: someScaling({ maxIdleSlots: 0, idleDecayMs: 0, maxAgents: max }),
    drainTimeoutMs: drainMs,
    agentAuth: 'token',
    agentNetworks: [],
    labels: {},
  };
}

/** Reads plain JSON; the kind `command` is the operator's alone. */
export const readJsonPool: PoolReader = (json, { trust }) => {
  try {
    const pool = JSON.parse(json) as PoolText;
    if (!pool.name) return { problems: [{ path: 'name', line: 1, column: 1, message: 'A pool needs a name.' }] };
    if (pool.kind === 'command' && trust === 'foreign') {
      return { problems: [{ path: 'kind', line: 1, message: 'Only the operator may name "command".' }] };
    }
    return { spec: specOf(pool) };
  } catch {
    return { problems: [{ path: '', line: 3, column: 7, message: 'This is not JSON.' }] };
  }
};

/** A source in memory that counts what it is asked. */
export interface FakeSource extends Source {
  put(key: string, text: string): void;
  remove(key: string): void;
  /** As its writer does who waits: it stays listed, as deleted, until `remove`. */
  markDeleted(key: string, how?: { readonly isForced: true }): void;
  /** Every listing throws this until it is undefined again. */
  fault: Fault | undefined;
  hint(): void;
  listings: number;
  textsSent: number;
  isWatched: boolean;
}

export function fakeSource(documents: Readonly<Record<string, string>> = {}): FakeSource {
  const texts = new Map<string, { text: string; version: string; isDeleted?: true; isForced?: true }>(
    Object.entries(documents).map(([key, text]) => [key, { text, version: 'v1' }]),
  );
  let versions = 1;
  let hint = (): void => {};
  const source: FakeSource = {
    fault: undefined,
    listings: 0,
    textsSent: 0,
    isWatched: false,
    hint: () => hint(),
    put: (key, text) => void texts.set(key, { text, version: `v${++versions}` }),
    remove: (key) => void texts.delete(key),
    markDeleted(key, how) {
      const text = texts.get(key)?.text ?? '';
      texts.set(key, { text, version: `v${++versions}`, isDeleted: true, ...how });
    },
    async documents(held) {
      source.listings += 1;
      if (source.fault) throw source.fault;
      return [...texts].map(([key, { text, version, isDeleted, isForced }]): Document => {
        if (isDeleted) return { key, version, text, isDeleted, isForced };
        if (held.get(key) === version) return { key, version };
        source.textsSent += 1;
        return { key, version, text };
      });
    },
    watch(changed, signal) {
      hint = changed;
      source.isWatched = true;
      signal.addEventListener('abort', () => {
        source.isWatched = false;
        hint = () => {};
      });
    },
  };
  return source;
}

export function opened(id: string, source: Source, over: Partial<OpenedSource> = {}): OpenedSource {
  return { id, kind: 'fake', source, everyMs: EVERY_MS, trust: 'foreign', ...over };
}

export const outage = (): Fault => new Fault('unavailable', 'The source is away.');

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Starts the pools; hand in the disk and clock of another world to restart it. */
export async function openWorld(
  sources: readonly OpenedSource[],
  {
    disk = emptyDisk(),
    clock = new VirtualClock(),
    readPool = readJsonPool,
    redact,
    beforeWrite,
    leaseLeftMs,
    activityOf,
  }: {
    disk?: Disk;
    clock?: VirtualClock;
    readPool?: PoolReader;
    redact?: PoolsDeps['redact'];
    beforeWrite?: () => Promise<void>;
    leaseLeftMs?: () => number;
    activityOf?: PoolsDeps['activityOf'];
  } = {},
) {
  const lines: { level: string; message: string; fields: Readonly<Record<string, unknown>> | undefined }[] = [];
  const log: Log = (level, message, fields) => void lines.push({ level, message, fields });
  let writes = 0;
  const driver = memoryDriver(disk, async (changes) => {
    await beforeWrite?.();
    writes += changes.length;
  });
  const store = await openStore(driver, (fault) => {
    throw fault;
  });
  const random = seededRandom(disk.epoch);
  const journal = startJournal({ store, clock, random, log });
  const gate = openGate({
    store: { durable: store.durable, leaseLeftMs: () => leaseLeftMs?.() ?? Number.POSITIVE_INFINITY },
    clock,
    log,
  });
  const deps = { store, clock, random, log, journal, readPool, sources, redact, gate, activityOf };
  const pools: Pools = await startPools(deps);
  await clock.settle();
  return {
    clock,
    disk,
    store,
    pools,
    lines,
    get writes() {
      return writes;
    },
    pool: (name: string): Pool | undefined => [...store.view.pools.by('name', name)][0],
    document: (source: string, key: string) => store.view.documents.get(documentId(source, key)),
    source: (id: string) => store.view.sources.get(id),
    events: (kind?: string) => disk.histories.events.filter((event) => kind === undefined || event.kind === kind),
    eventKinds: () => disk.histories.events.map(({ kind }) => kind),
    async intervals(count = 1) {
      for (let passed = 0; passed < count; passed++) await clock.advance(ONE_INTERVAL_MS);
    },
    async list(source: string) {
      pools.sync(source);
      await clock.settle();
    },
    async stop() {
      await pools.stop();
      await journal.stop();
    },
  };
}

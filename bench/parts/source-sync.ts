// What it costs to follow a source: the registry of pools at work on it, one reading after the other.
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import { readPool } from '#config/pool-document.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Provider, Source } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { startJournal } from '#journal/journal.ts';
import { makeRedactor } from '#journal/redact.ts';
import { startPools } from '#pools/pools.ts';

const SOURCE = 'bench';
const AN_HOUR_MS = 3_600_000;

export interface Followed {
  readonly provider: Provider;
  readonly kind: string;
  readonly place: string;
  readonly source: Source;
}

/** The registry of pools at work on one source. */
export async function followSource(store: Store, { provider, kind, place, source }: Followed) {
  const base = { store, clock: systemClock, random: systemRandom, log: silentLog };
  const redactor = makeRedactor();
  const journal = startJournal({ ...base, redactor });
  const { backends } = knownKinds([provider]);
  const pools = await startPools({
    ...base,
    journal,
    readPool(text, { trust }) {
      const read = readPool(text, { kinds: backends, trust });
      return read.problems ? { problems: read.problems } : { spec: read.spec };
    },
    sources: [{ id: SOURCE, kind, place, source, everyMs: AN_HOUR_MS, trust: 'foreign' }],
    redact: redactor.text,
    gate: openGate(base),
  });
  return {
    synced: () => pools.synced(SOURCE, new AbortController().signal),
    async stop(): Promise<void> {
      await pools.stop();
      await journal.stop();
    },
  };
}

export interface SyncCost {
  readonly cpuMs: number;
  readonly tookMs: number;
  /** Rows written. */
  readonly writes: number;
  /** Pools whose row changed: that is what wakes them. */
  readonly woken: number;
}

/** What one sync costs this process, with all its threads, until it is durable. */
export async function costOfSync(store: Store, sync: () => Promise<unknown>): Promise<SyncCost> {
  let writes = 0;
  let woken = 0;
  const ends = [
    store.onDurable((changes) => {
      writes += changes.length;
    }),
    store.onChange('pools', () => {
      woken += 1;
    }),
  ];
  const before = process.cpuUsage();
  const startMs = systemClock.monotonic();
  await sync();
  await store.durable();
  const tookMs = systemClock.monotonic() - startMs;
  const { user, system } = process.cpuUsage(before);
  for (const end of ends) end();
  return { cpuMs: (user + system) / 1_000, tookMs, writes, woken };
}

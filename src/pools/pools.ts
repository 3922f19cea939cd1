import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { startLoop } from '#core/loop.ts';
import type { Pool } from '#core/pool.ts';
import { apiPools, loadApiPools } from './api-pools.ts';
import { startEndings } from './endings.ts';
import { makeSetSources } from './feeds.ts';
import { type Foresight, openForesight } from './foresight.ts';
import type { OpenedSource } from './opened-source.ts';
import { type Feed, makeRegistry, type PoolsDeps, type SyncOutcome, type SyncTiming, sourceLog } from './registry.ts';
import { keepRemovals } from './removals.ts';
import { startReports } from './reports.ts';
import { makeSettle } from './settle.ts';
import { makeSync } from './sync.ts';
import { awaitSync } from './tally.ts';

export type { DraftDocument, Foresight } from './foresight.ts';
export type { Allow, OpenedSource } from './opened-source.ts';
export type { Outlook, PlannedPool, Refusal } from './outlook.ts';
export type { Problem, ReadPool } from './reading.ts';
export type { PoolsDeps, SyncOutcome, SyncTiming } from './registry.ts';

export interface Expectation {
  /** The revision that the caller has seen; a newer one refuses the write. 0: there must be no such pool yet. */
  readonly revision?: number | undefined;
}

/** Which pools exist: one owner each, last good definition kept, removals drained. */
export interface Pools extends Foresight {
  /** The sources that should be there now; one that vanished is held, with its pools. */
  setSources(sources: readonly OpenedSource[]): void;
  /** Creates or changes a pool of the source `api` from its document. */
  define(text: string, expect: Expectation, actor: Actor): Promise<Pool>;
  /** Drains and forgets a pool of the source `api`. */
  remove(name: string, expect: Expectation, actor: Actor): Promise<Pool>;
  pause(name: string, isPaused: boolean, actor: Actor): Promise<Pool>;
  /** Syncs that source now. */
  sync(source: string): void;
  /** The same; resolves with what came of it, when that is durable. */
  synced(source: string, signal: AbortSignal): Promise<SyncOutcome>;
  /** Lets a held listing through; where it is said how many pools are meant, only while it is about so many. */
  approve(source: string, actor: Actor, pools?: number): Promise<void>;
  /** How the syncs of each configured source went; for `sourceStatus`. */
  timings(): ReadonlyMap<string, SyncTiming>;
  stop(): Promise<void>;
}

// A source that hangs keeps its place until its timeout; others must not wait for it.
const SOURCES_AT_A_TIME = 64;

export function startPools(deps: PoolsDeps): Pools {
  const { clock, random, log } = deps;
  const registry = makeRegistry(deps);
  const removals = keepRemovals(registry, (source) => loop.poke(source));
  const settle = makeSettle(registry, removals);
  const reports = startReports(registry);
  const reconcile = makeSync(registry, { settle, removals, ended: reports.poke });
  const loop = startLoop({
    name: 'sources',
    clock,
    random,
    log: sourceLog(log),
    reconcile,
    concurrency: SOURCES_AT_A_TIME,
  });
  const endings = startEndings(registry, () => removals.review());
  const setSources = makeSetSources(registry, { settle, removals, poke: loop.poke });
  loadApiPools(registry, settle);
  setSources(deps.sources);

  function ask(source: string): Feed {
    const feed = registry.feeds.get(source);
    if (!feed) throw new Fault('missing', `There is no source "${source}" in the configuration.`);
    feed.isAsked = true;
    loop.poke(source);
    return feed;
  }

  return {
    setSources,
    ...openForesight(registry),
    ...apiPools(registry, settle),
    sync: (source) => void ask(source),
    synced: (source, signal) => awaitSync(registry, ask(source), signal),
    approve: removals.approve,
    timings: () => new Map([...registry.feeds].map(([id, feed]) => [id, feed.timing])),
    async stop() {
      for (const feed of registry.feeds.values()) feed.closed.abort();
      await Promise.all([loop.stop(), endings.stop(), reports.stop()]);
    },
  };
}

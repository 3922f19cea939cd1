import type { Actor } from '#core/journal.ts';
import { startLoop } from '#core/loop.ts';
import type { Pool } from '#core/pool.ts';
import { apiPools, loadApiPools } from './api-pools.ts';
import { makeApplyOwnership } from './apply-ownership.ts';
import { startForgettingDrained } from './drain-pool.ts';
import { keepDroppedPools } from './dropped-pools.ts';
import { type Foresight, openForesight } from './plan-documents.ts';
import type { OpenedSource } from './registry.ts';
import {
  makeRegistry,
  missingSource,
  type PoolsDeps,
  type SourceRunner,
  type SyncOutcome,
  type SyncTiming,
  sourceLog,
} from './registry.ts';
import { startReports } from './reports.ts';
import { closeSource, makeSetSources } from './source-runners.ts';
import { makeSync } from './sync.ts';
import { awaitSync } from './sync-outcome.ts';

export type { DraftDocument, Foresight } from './plan-documents.ts';
export type { ChangePlan, PlannedPool, Refusal } from './planned-changes.ts';
export type { PoolReader } from './read-document.ts';
export type { Allow, OpenedSource, PoolsDeps, SyncOutcome, SyncTiming } from './registry.ts';

/** What the writer of a document takes for granted; the write is refused where that does not hold. */
export interface Expectation {
  /** The revision that the caller has seen; a newer one refuses the write. 0: there must be no such pool yet. */
  readonly revision?: number | undefined;
  /** The name that the document must give its pool. */
  readonly name?: string | undefined;
}

/** Which pools exist: one owner each, last good definition kept, removed pools drained. */
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
  /** The same; resolves with the outcome when it is durable. */
  synced(source: string, signal: AbortSignal): Promise<SyncOutcome>;
  /** Resolves when that source has been synced once, or could not be: its pools are there, or its fault is. */
  firstSync(source: string): Promise<void>;
  /** Approves a held removal; with a number of pools, only if exactly so many are held. */
  approve(source: string, actor: Actor, pools?: number): Promise<void>;
  /** How the syncs of each configured source went; for `sourceStatus`. */
  timings(): ReadonlyMap<string, SyncTiming>;
  /** What `activityOf` answers for that pool has changed: its source reports it to the writer of the document. */
  noteActivity(pool: string): void;
  stop(): Promise<void>;
}

// A source that hangs keeps its place until its timeout; others must not wait for it.
const SOURCES_AT_A_TIME = 64;

export async function startPools(deps: PoolsDeps): Promise<Pools> {
  const { clock, random, log } = deps;
  const registry = makeRegistry(deps);
  const droppedPools = keepDroppedPools(registry, (source) => loop.poke(source));
  const applyOwnership = makeApplyOwnership(registry, droppedPools);
  const reports = startReports(registry);
  const reconcile = makeSync(registry, {
    applyOwnership,
    droppedPools,
    ended: reports.poke,
    answerThaw: reports.repeat,
  });
  const loop = startLoop({
    name: 'sources',
    clock,
    random,
    log: sourceLog(log),
    reconcile,
    concurrency: SOURCES_AT_A_TIME,
  });
  const forgetting = startForgettingDrained(registry, () => droppedPools.review());
  const setSources = makeSetSources(registry, { applyOwnership, droppedPools, poke: loop.poke });
  await loadApiPools(registry, applyOwnership);
  setSources(deps.sources);

  function ask(source: string): SourceRunner {
    const runner = registry.runners.get(source);
    if (!runner) throw missingSource(source);
    runner.isAsked = true;
    loop.poke(source);
    return runner;
  }

  return {
    setSources,
    ...openForesight(registry),
    ...apiPools(registry, applyOwnership),
    sync: (source) => void ask(source),
    synced: (source, signal) => awaitSync(registry, ask(source), signal),
    firstSync: async (source) => registry.runners.get(source)?.firstSync.promise,
    approve: droppedPools.approve,
    timings: () => new Map([...registry.runners].map(([id, runner]) => [id, runner.timing])),
    noteActivity: reports.poolChanged,
    async stop() {
      for (const runner of registry.runners.values()) runner.closed.abort();
      await Promise.all([loop.stop(), forgetting.stop(), reports.stop()]);
      await Promise.all([...registry.runners.values()].map((runner) => closeSource(registry, runner)));
    },
  };
}

import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import { countPool, type PoolCounts } from '#core/pool-counts.ts';
import { inSlices } from '#core/slices.ts';
import type { Store } from '#core/store.ts';
import { FLEET, WORKER_PHASES, type WorkerPhase } from '#core/worker.ts';
import { listSources, type SourceStatus, type StatusWorld } from '../pools/status.ts';
import { countSessions } from './shown/session-counts.ts';

/** Moments of a pool that the dashboards of `velda_autoscaler_last_event_timestamp_seconds` know. */
export type PoolMoment = 'scale_up_attempt' | 'allocation_error' | 'resource_exhausted' | 'startup_failure';

/** How the syncs of each configured source went. */
export type SyncTimes = StatusWorld['timings'];

export interface FleetGauges {
  followSyncs(timings: () => SyncTimes): void;
  moment(pool: string, moment: PoolMoment): void;
  forget(pool: string): void;
  /** Counts afresh, in slices, so that a large fleet does not hold up the process. */
  refresh(): Promise<void>;
}

// Each pool has a dozen series; past this many the rest is one, so that the scrape stays bounded.
const MOST_POOLS = 1_000;
const REST = '(others)';

// The states that users of the original know them by.
const VELDA_STATUS: Readonly<Record<WorkerPhase, string>> = {
  launching: 'pending',
  booting: 'pending',
  idle: 'idle',
  busy: 'running',
  draining: 'notify_deleting',
  lost: 'lost',
  parked: 'disconnected',
  deleting: 'deleting',
};

function openGauges(registry: Registry) {
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  return {
    workers: gauge('muster_workers', 'Workers by pool and phase.', ['pool', 'phase']),
    queued: gauge('muster_queued_sessions', 'Sessions that wait for a slot, by pool.', ['pool']),
    sessions: gauge('muster_sessions', 'Live sessions by phase.', ['phase']),
    pools: gauge('muster_pools', 'Pools.', []),
    syncAge: gauge('muster_source_sync_age_seconds', 'Since the last good listing of a source.', ['source']),
    syncTook: gauge('muster_source_sync_seconds', 'How long the last good listing of a source took.', ['source']),
    syncFailures: gauge('muster_source_sync_failures', 'Failed listings of a source in a row.', ['source']),
    documents: gauge('muster_source_documents', 'Documents of a source.', ['source']),
    held: gauge('muster_source_held', '1 while a removal of a source waits for approval.', ['source']),
    faulty: gauge('muster_source_faulty_documents', 'Documents of a source that are refused.', ['source']),
    frozen: gauge('muster_frozen', '1 while the whole fleet is frozen.', []),
    epoch: gauge('muster_epoch', 'Grows with each change of holder.', []),
    veldaWorkers: gauge('velda_autoscaler_workers', 'Workers by pool and status.', ['pool', 'status']),
    veldaSlots: gauge('velda_autoscaler_worker_slots', 'Slots by pool and kind.', ['pool', 'kind']),
    moments: gauge('velda_autoscaler_last_event_timestamp_seconds', 'When this last happened in a pool.', [
      'pool',
      'event',
    ]),
  };
}

export function openFleetGauges(registry: Registry, store: Store, clock: Clock): FleetGauges {
  const gauges = openGauges(registry);
  const moments = new Map<string, Map<PoolMoment, number>>();
  let syncTimes = (): SyncTimes => new Map();

  function showPool(pool: string, counts: PoolCounts): void {
    for (const phase of WORKER_PHASES) {
      if (counts.workers[phase] === 0) continue;
      gauges.workers.inc({ pool, phase }, counts.workers[phase]);
      gauges.veldaWorkers.inc({ pool, status: VELDA_STATUS[phase] }, counts.workers[phase]);
    }
    gauges.queued.inc({ pool }, counts.sessions.queued);
    gauges.veldaSlots.inc({ pool, kind: 'available' }, counts.slots.free);
    gauges.veldaSlots.inc({ pool, kind: 'requested' }, counts.sessions.queued);
  }

  function showMoments({ id, name }: Pool): void {
    for (const [event, ms] of moments.get(id) ?? []) gauges.moments.set({ pool: name, event }, ms / 1_000);
  }

  async function showPools(): Promise<void> {
    const pools: Pool[] = [...store.view.pools.all()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    await inSlices(clock, pools.entries(), ([at, pool]) => {
      showPool(at < MOST_POOLS ? pool.name : REST, countPool(store, pool.id));
      if (at < MOST_POOLS) showMoments(pool);
    });
  }

  function showSource({ id: source, ageMs, durationMs, failures, documents, faulty, held }: SourceStatus): void {
    if (ageMs !== undefined) gauges.syncAge.set({ source }, ageMs / 1_000);
    if (durationMs !== undefined) gauges.syncTook.set({ source }, durationMs / 1_000);
    gauges.syncFailures.set({ source }, failures);
    gauges.documents.set({ source }, documents);
    gauges.faulty.set({ source }, faulty);
    gauges.held.set({ source }, held ? 1 : 0);
  }

  async function count(): Promise<void> {
    for (const gauge of Object.values(gauges)) (gauge as Gauge<string>).reset();
    gauges.pools.set(store.view.pools.size);
    gauges.frozen.set(store.view.freezes.get(FLEET) ? 1 : 0);
    gauges.epoch.set(store.epoch);
    for (const [phase, sessions] of Object.entries(countSessions(store))) gauges.sessions.set({ phase }, sessions);
    for (const status of listSources({ view: store.view, timings: syncTimes(), nowMs: clock.now() }))
      showSource(status);
    await showPools();
  }

  // Two scrapes at once share one count: the gauges are set in several turns.
  let counting: Promise<void> | undefined;

  return {
    followSyncs(timings) {
      syncTimes = timings;
    },
    moment(pool, moment) {
      const times = moments.get(pool) ?? new Map<PoolMoment, number>();
      moments.set(pool, times.set(moment, clock.now()));
    },
    forget: (pool) => void moments.delete(pool),
    refresh() {
      counting ??= count().finally(() => {
        counting = undefined;
      });
      return counting;
    },
  };
}

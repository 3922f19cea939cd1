import type { EventRow } from '#core/journal.ts';
import { readMark } from '#core/mark.ts';
import type { Pool } from '#core/pool.ts';
import { countPool, type PoolCounts } from '#core/pool-counts.ts';
import { inSlices } from '#core/slices.ts';
import { WORKER_PHASES, type WorkerPhase } from '#core/worker.ts';
import { gaugeSet } from './gauges.ts';
import { type Gauges, type GaugeWorld, stopAll } from './noun.ts';
import { OTHER_POOLS } from './pool-labels.ts';
import { poolLimitGauges } from './pool-limits.ts';

/** The event kinds of `velda_autoscaler_last_event_timestamp_seconds`, for existing dashboards. */
type PoolMoment = 'scale_up_attempt' | 'allocation_error' | 'resource_exhausted';

// Each pool has a dozen series; past this many the rest is one, so that the scrape stays bounded.
const MOST_POOLS = 1_000;

// The state names of Velda's metrics.
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

/** When each moment last happened, by the id of the pool. */
function followMoments({ store, clock }: GaugeWorld) {
  const moments = new Map<string, Map<PoolMoment, number>>();

  function happened(pool: string, moment: PoolMoment): void {
    const times = moments.get(pool) ?? new Map<PoolMoment, number>();
    moments.set(pool, times.set(moment, clock.now()));
  }

  function followFailure({ kind, pool, fields }: EventRow): void {
    if (kind !== 'worker.failed' || pool === undefined) return;
    const isExhausted = fields?.fault === 'exhausted' || fields?.fault === 'quota';
    happened(pool, isExhausted ? 'resource_exhausted' : 'allocation_error');
  }

  const stop = stopAll([
    store.onChange('launches', (after, before) => {
      const { use, owner } = after && !before ? readMark(after.mark) : {};
      if (use === 'worker' && owner !== undefined) happened(owner, 'scale_up_attempt');
    }),
    store.onChange('pools', (after, _before, id) => {
      if (!after) moments.delete(id);
    }),
    store.onDurable((changes) => {
      for (const change of changes) if ('append' in change && change.append === 'events') followFailure(change.row);
    }),
  ]);
  return { of: (pool: string) => moments.get(pool) ?? [], stop };
}

/** Counts each pool in slices, so that a large fleet does not stall the process. */
export function poolGauges(world: GaugeWorld): Gauges {
  const { store, clock, registry } = world;
  const { gauge, reset } = gaugeSet(registry);
  const pools = gauge('muster_pools', 'Pools.');
  const workers = gauge('muster_workers', 'Workers by pool and phase.', ['pool', 'phase']);
  const queued = gauge('muster_queued_sessions', 'Sessions that wait for a slot, by pool.', ['pool']);
  const veldaWorkers = gauge('velda_autoscaler_workers', 'Workers by pool and status.', ['pool', 'status']);
  const veldaSlots = gauge('velda_autoscaler_worker_slots', 'Slots by pool and kind.', ['pool', 'kind']);
  const veldaMoments = gauge('velda_autoscaler_last_event_timestamp_seconds', 'When this last happened in a pool.', [
    'pool',
    'event',
  ]);
  const limits = poolLimitGauges(world);
  const moments = followMoments(world);

  function showPool(pool: string, counts: PoolCounts): void {
    for (const phase of WORKER_PHASES) {
      if (counts.workers[phase] === 0) continue;
      workers.inc({ pool, phase }, counts.workers[phase]);
      veldaWorkers.inc({ pool, status: VELDA_STATUS[phase] }, counts.workers[phase]);
    }
    queued.inc({ pool }, counts.sessions.queued);
    veldaSlots.inc({ pool, kind: 'available' }, counts.slots.free);
    veldaSlots.inc({ pool, kind: 'requested' }, counts.sessions.queued);
  }

  return {
    async refresh() {
      reset();
      pools.set(store.view.pools.size);
      const rows: Pool[] = [...store.view.pools.all()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
      limits.begin();
      await inSlices(clock, rows.entries(), ([at, row]) => {
        const { id, name: pool } = row;
        showPool(at < MOST_POOLS ? pool : OTHER_POOLS, countPool(store, id));
        limits.add(row);
        if (at >= MOST_POOLS) return;
        for (const [event, ms] of moments.of(id)) veldaMoments.set({ pool, event }, ms / 1_000);
      });
      limits.show();
    },
    stop: moments.stop,
  };
}

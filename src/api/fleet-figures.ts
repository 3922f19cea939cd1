// What all pools come to together: counted once, then kept by each change of a row, and only while somebody looks.
import { MINUTE_MS } from '#core/clock.ts';
import { openSlices } from '#core/slices.ts';
import type { ApiDeps } from './deps.ts';
import { type FleetSums, openFleetSums } from './fleet-sums.ts';
import { stopAll } from './noun.ts';

export interface FleetFigures {
  /** The sums, which stay as they are now for this turn alone. The first call counts, in slices. */
  now(): Promise<FleetSums>;
  stop(): void;
}

// As long as a reconnecting client of the stream of changes may be away.
const KEEP_FOR_MS = 2 * MINUTE_MS;

/** Sums that follow the store; pools that are not counted yet are left out of every change. */
function follow({ store, clock }: Pick<ApiDeps, 'store' | 'clock'>) {
  const { view } = store;
  const kept = openFleetSums(store);
  let isStopped = false;
  /** The pools and computers counted so far; absent: all. */
  let counted: Set<string> | undefined = new Set();
  const isCounted = (pool: string | undefined): boolean => pool !== undefined && (counted?.has(pool) ?? true);

  const stop = stopAll([
    store.onChange('workers', (after, before, id) => {
      if (isCounted((after ?? before)?.pool)) kept.workerChanged(after, before, id);
    }),
    store.onChange('agents', (after, before, id) => {
      if (isCounted((after ?? before)?.owner)) kept.agentChanged(after, before, id);
    }),
    store.onChange('sessions', (after, before) => {
      if (isCounted((after ?? before)?.pool)) kept.sessionChanged(after, before);
    }),
    store.onChange('offers', (after, before, id) => {
      const [now, was] = [after, before].map((row) => row?.prices?.at(-1)?.perHour);
      if (now !== was)
        for (const worker of view.workers.by('offer', id))
          if (isCounted(worker.pool)) kept.priceChanged(worker, now, was);
    }),
  ]);

  /** Also of pools and computers that are gone, while something of theirs is left. */
  function* ids(): Iterable<string> {
    for (const { id } of view.pools.all()) yield id;
    for (const { id } of view.computers.all()) yield id;
    for (const { pool } of view.workers.all()) yield pool;
    for (const { pool } of view.sessions.all()) yield pool;
  }

  async function count(): Promise<FleetSums> {
    const slices = openSlices(clock);
    for (const id of ids()) {
      if (isStopped) break;
      if (!counted?.has(id)) kept.count(id);
      counted?.add(id);
      if (slices.isOver()) await slices.next();
    }
    counted = undefined;
    return kept.sums;
  }

  return {
    whole: count(),
    stop(): void {
      isStopped = true;
      stop();
    },
  };
}

export function openFleetFigures(deps: Pick<ApiDeps, 'store' | 'clock'>): FleetFigures {
  let following: ReturnType<typeof follow> | undefined;
  let cancelOff = (): void => {};

  function stop(): void {
    cancelOff();
    following?.stop();
    following = undefined;
  }

  return {
    now() {
      cancelOff();
      cancelOff = deps.clock.alarm(KEEP_FOR_MS, stop);
      following ??= follow(deps);
      return following.whole;
    },
    stop,
  };
}

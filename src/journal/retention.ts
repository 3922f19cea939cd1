import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import type { HistoryName, Store } from '#core/store.ts';

/** How long each history is kept, in milliseconds; Infinity keeps it for ever. */
export type Retention = Readonly<Record<HistoryName, number>>;

const LOOK_EVERY_MS = 10 * 60_000;
// One step is one short transaction, so that work which waits for the disk gets its turn in between.
const ROWS_A_STEP = 1_000;
const BETWEEN_STEPS_MS = 100;

export interface RetentionDeps {
  readonly store: Pick<Store, 'history'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly retention: Retention;
}

/** Deletes what is older than its retention, in bounded steps. */
export function startRetention({ store, clock, random, log, retention }: RetentionDeps): Loop {
  const loop = startLoop({
    name: 'retention',
    clock,
    random,
    log,
    async reconcile(id) {
      const name = id as HistoryName;
      const gone = await store.history.forget(name, clock.now() - retention[name], ROWS_A_STEP);
      if (gone > 0) log('debug', 'old history rows deleted', { history: name, rows: gone });
      return { afterMs: gone < ROWS_A_STEP ? LOOK_EVERY_MS : BETWEEN_STEPS_MS };
    },
  });
  for (const [name, keptMs] of Object.entries(retention)) {
    if (Number.isFinite(keptMs)) loop.poke(name);
  }
  return loop;
}

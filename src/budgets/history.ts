// What the history says of the month: read once, page by page, while decisions that need it wait.
import type { Clock } from '#core/clock.ts';
import { SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { idsFrom } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import { monthFrom } from '#core/month.ts';
import type { Store } from '#core/store.ts';
import type { CostLedger } from './ledger.ts';

const ROWS_A_PAGE = 500;
const AGAIN_MS = 10 * SECOND_MS;

interface HistoryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
}

/** Adds all machines that have ended this month; a failure of the store is tried again from the last page. */
export async function countEnded({ store, clock, log, stopping }: HistoryDeps, ledger: CostLedger): Promise<void> {
  let after = idsFrom(monthFrom(clock.now()));
  while (!stopping.aborted) {
    try {
      const rows = await store.history.endedMachines({}, { after, limit: ROWS_A_PAGE, order: 'oldest first' });
      if (stopping.aborted) return;
      for (const row of rows) ledger.addEnded(row);
      const last = rows.at(-1);
      if (!last || rows.length < ROWS_A_PAGE) return;
      after = last.id;
    } catch (thrown) {
      if (stopping.aborted) return;
      log('warn', 'cannot read what was spent this month', { error: Fault.from(thrown).message });
      await clock.sleep(AGAIN_MS, stopping);
    }
  }
}

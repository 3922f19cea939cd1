// The engine's events about our containers, as a hint to list again. They are never read for what they say.
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Engine } from './engine.ts';
import { labelFilter } from './marks.ts';

export interface EventsDeps {
  readonly engine: Pick<Engine, 'lines' | 'clock' | 'address'>;
  readonly cluster: string;
  readonly log: Log;
}

const EVENTS = ['create', 'start', 'die', 'destroy', 'pause', 'unpause', 'oom'];
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 30_000];

/** Follows the events until the signal ends. A stream that breaks is opened again, and that counts as a hint. */
export async function followEvents(
  { engine, cluster, log }: EventsDeps,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const filters = JSON.stringify({ type: ['container'], event: EVENTS, label: [labelFilter(cluster)] });
  let failures = 0;
  // The engine is back, and what happened in between was in no stream.
  const opened = (): void => {
    if (failures > 0 && !signal.aborted) changed();
    failures = 0;
  };
  while (!signal.aborted) {
    try {
      for await (const _event of engine.lines<object>({ path: '/events', query: { filters }, opened }, signal)) {
        if (signal.aborted) return;
        changed();
      }
    } catch (thrown) {
      if (signal.aborted) return;
      log('debug', 'events of the engine are not followed', {
        engine: engine.address,
        error: Fault.from(thrown).message,
      });
    }
    failures += 1;
    await engine.clock.sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10)), signal);
  }
}

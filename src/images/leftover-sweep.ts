// What a killed build has left, machines among it, in places that the server's file names: the next build there removes it
// too, and no one may ever build there again.
import type { OpenKinds } from '#clouds/open-kinds.ts';
import { type Clock, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { ImageBuilder } from '#core/image-builder.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { isLongOver } from './run-folder.ts';
import type { ImageSettings } from './section.ts';

export interface SweepDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'event'>;
  readonly builders: OpenKinds<ImageBuilder>;
  settings(): ImageSettings;
}

const SWEEP_EVERY_MS = HOUR_MS;
// A security group goes when its machine has ended.
const SWEEP_WITHIN_MS = 10 * MINUTE_MS;

/** The id of a place is where it stands in the file. */
export function startLeftoverSweep(deps: SweepDeps): { look(): void; stop(): Promise<void> } {
  const { store, clock, random, log, journal, builders, settings } = deps;

  async function sweep(id: string, signal: AbortSignal): Promise<{ readonly afterMs: number } | undefined> {
    const chosen = settings().sweep[Number(id)];
    if (!chosen) return undefined;
    const call = { name: 'clean', is: 'write', owner: 'images', timeoutMs: SWEEP_WITHIN_MS, signal } as const;
    const removed = await builders.call(chosen, call, async (builder, ending) => {
      const names = await builder.clean?.((mark) => isLongOver(mark, clock.now()), ending);
      return { cloud: builder.cloud, names: names ?? [] };
    });
    const events = removed.names.map((name) => {
      const message = `Removed ${name} in ${removed.cloud}: a build of ${chosen.kind} has left it.`;
      return journal.event({ kind: 'image.swept', subject: 'server', message });
    });
    if (events.length > 0) await store.commit(events);
    return { afterMs: SWEEP_EVERY_MS };
  }

  const loop = startLoop({
    name: 'image-sweep',
    ...{ clock, random, log },
    reconcile: sweep,
    failed: (id, fault) =>
      log('warn', 'cannot look for what killed image builds have left', {
        builder: settings().sweep[Number(id)]?.kind,
        error: Fault.from(fault).message,
      }),
  });
  return {
    look() {
      for (const id of settings().sweep.keys()) loop.poke(String(id));
    },
    stop: () => loop.stop(),
  };
}

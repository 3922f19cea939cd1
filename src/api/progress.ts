// What becomes of one thing, line by line, for callers who wait for it.
import type { ApiDeps } from './deps.ts';
import type { Call } from './route.ts';

export interface ProgressWish<W> {
  /** As it is now; undefined: it is gone. */
  row(): W | undefined;
  /** Nothing more happens to it by itself. */
  isSettled(row: W): boolean;
  /** Calls back when it may have changed; the returned functions end that. */
  follow(poke: () => void): readonly (() => void)[];
  readonly waitMs: number;
  /** Looks at least so often, where not all that it shows can be followed. */
  readonly lookEveryMs?: number;
}

/** The row at each change, from now until it is settled or gone, or the time is up. */
export async function* progressLines<W>(
  { store, clock }: Pick<ApiDeps, 'store' | 'clock'>,
  { row, isSettled, follow, waitMs, lookEveryMs = waitMs }: ProgressWish<W>,
  { signal, turn }: Pick<Call<unknown, unknown, unknown>, 'signal' | 'turn'>,
): AsyncIterable<Buffer> {
  let changed = Promise.withResolvers<void>();
  const poke = (): void => changed.resolve();
  const stops = follow(poke);
  signal.addEventListener('abort', poke, { once: true });
  const endsAt = clock.monotonic() + waitMs;
  let last = '';
  try {
    for (;;) {
      const now = row();
      await store.durable();
      if (now === undefined) return;
      const line = `${JSON.stringify(now)}\n`;
      if (line !== last) yield Buffer.from(line);
      last = line;
      const leftMs = endsAt - clock.monotonic();
      if (isSettled(now) || signal.aborted || leftMs <= 0) return;
      const cancel = clock.alarm(Math.min(lookEveryMs, leftMs), poke);
      await changed.promise;
      cancel();
      await turn();
      changed = Promise.withResolvers();
    }
  } finally {
    for (const stop of stops) stop();
    signal.removeEventListener('abort', poke);
  }
}

// Clients and proxies cut an answer on which nothing comes for minutes; Node's own fetch does after five.
import type { Clock } from '#core/clock.ts';

export const BEAT_EVERY_MS = 15_000;

/** Readers of lines of JSON leave empty ones out. */
const EMPTY_LINE = Buffer.from('\n');

/** The same lines, and an empty one whenever none has come for so long. */
export async function* withBeat(
  lines: AsyncIterable<Buffer>,
  { clock, turn }: { readonly clock: Clock; readonly turn: () => Promise<void> },
): AsyncIterable<Buffer> {
  const source = lines[Symbol.asyncIterator]();
  let cancel = (): void => {};
  const beat = (): Promise<'beat'> =>
    new Promise((resolve) => {
      cancel = clock.alarm(BEAT_EVERY_MS, () => resolve('beat'));
    });
  try {
    let next = source.next();
    for (;;) {
      const came = await Promise.race([next, beat()]);
      cancel();
      if (came === 'beat') {
        // Those that began together beat together.
        await turn();
        yield EMPTY_LINE;
        continue;
      }
      if (came.done) return;
      yield came.value;
      next = source.next();
    }
  } finally {
    cancel();
    // It may still wait for its next line: its signal ends that.
    void source.return?.();
  }
}

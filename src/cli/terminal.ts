import type { Clock } from '#core/clock.ts';

/** What a command may use of the terminal it runs in. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
  readonly clock: Clock;
}

export const isInteractive = (stream: unknown): boolean => (stream as { isTTY?: boolean }).isTTY === true;

export function print(terminal: Terminal, text: string): void {
  terminal.output.write(`${text}\n`);
}

/** A line that is replaced while something takes long; silent where nobody watches. */
export function startProgress(terminal: Terminal, text: () => string): () => void {
  if (!isInteractive(terminal.errors)) return () => {};
  let shown = false;
  let cancel = (): void => {};
  const startedMs = terminal.clock.monotonic();
  const draw = (): void => {
    const seconds = Math.round((terminal.clock.monotonic() - startedMs) / 1_000);
    // Quick answers need no progress; a line that flashes by only disturbs.
    if (seconds >= 1) {
      terminal.errors.write(`\r\u001b[2K${text()} (${seconds}s)`);
      shown = true;
    }
    cancel = terminal.clock.alarm(500, draw);
  };
  draw();
  return () => {
    cancel();
    if (shown) terminal.errors.write('\r\u001b[2K');
  };
}

/** Shows the newest picture until the signal aborts: in place on a terminal, one below the other elsewhere. */
export async function watchPicture(
  terminal: Terminal,
  draw: () => Promise<string>,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
): Promise<void> {
  let last = '';
  while (!signal.aborted) {
    const picture = await draw();
    if (picture !== last) {
      const clear = isInteractive(terminal.output) ? '\u001b[H\u001b[2J' : '';
      terminal.output.write(`${clear}${picture}\n`);
      last = picture;
    }
    await terminal.clock.sleep(everyMs, signal);
  }
}

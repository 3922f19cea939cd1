import type { WriteStream } from 'node:tty';
import type { Clock } from '#core/clock.ts';

/** What a command may use of the terminal it runs in. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
  readonly clock: Clock;
}

export const isInteractive = (stream: unknown): boolean => (stream as { isTTY?: boolean }).isTTY === true;

/** How much the terminal shows; what most have, where there is none. */
export function sizeOf({ output }: Terminal): { columns: number; rows: number } {
  const { columns, rows } = output as unknown as Partial<WriteStream>;
  return { columns: columns || 80, rows: rows || 24 };
}

export function print(terminal: Terminal, text: string): void {
  terminal.output.write(`${text}\n`);
}

/** A message of the CLI on stderr, apart from the output. */
export function remark(terminal: Terminal, text: string): void {
  terminal.errors.write(`muster: ${text}\n`);
}

/** A line that is replaced while something takes long. */
export interface ProgressLine {
  /** Makes room for other output; the line comes back by itself. */
  hide(): void;
  stop(): void;
}

const DRAW_EVERY_MS = 500;
const CLEAR = '\r\u001b[2K';

/** Silent without a terminal, without a text, and in the first second, so that quick commands do not flicker. */
export function openProgress(terminal: Terminal, text: () => string | undefined): ProgressLine {
  if (!isInteractive(terminal.errors)) return { hide() {}, stop() {} };
  let isShown = false;
  let cancel = (): void => {};
  const startedMs = terminal.clock.monotonic();
  const hide = (): void => {
    if (isShown) terminal.errors.write(CLEAR);
    isShown = false;
  };
  const draw = (): void => {
    const seconds = Math.round((terminal.clock.monotonic() - startedMs) / 1_000);
    const said = seconds >= 1 ? text() : undefined;
    if (said !== undefined) {
      terminal.errors.write(`${CLEAR}${said} (${seconds}s)`);
      isShown = true;
    }
    cancel = terminal.clock.alarm(DRAW_EVERY_MS, draw);
  };
  draw();
  return {
    hide,
    stop() {
      cancel();
      hide();
    },
  };
}

/** A progress line for something that writes nothing else; the returned function ends it. */
export function startProgress(terminal: Terminal, text: () => string): () => void {
  return openProgress(terminal, text).stop;
}

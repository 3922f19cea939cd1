// Waiting for one thing: a line at each change until nothing more happens to it.
import { parseDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import type { Client } from './client.ts';
import type { Cli } from './command.ts';
import { patiently } from './patience.ts';
import { print } from './terminal.ts';

const LONGEST_WAIT = '1h';
const ASK_AGAIN_MS = 500;

export interface FollowedThing<T> {
  /** Its path of the API, below which it has `/progress`. */
  readonly path: string;
  lineOf(thing: T): string;
  isSettled(thing: T): boolean;
  readonly timeout?: string | undefined;
}

/** Prints it at each change until it is settled; answers how it ended, or undefined where it is gone. */
export async function followProgress<T>(
  cli: Cli,
  client: Client,
  { path, lineOf, isSettled, timeout = LONGEST_WAIT }: FollowedThing<T>,
): Promise<T | undefined> {
  const { clock } = cli.terminal;
  const endsAtMs = clock.monotonic() + parseDuration(timeout);
  let last: T | undefined;
  let line = '';
  const read = async (alive: () => void): Promise<void> => {
    const leftMs = Math.round(Math.max(0, endsAtMs - clock.monotonic()));
    const query = { timeout: `${Math.min(leftMs, parseDuration(LONGEST_WAIT))}ms` };
    const lines = await client.lines(`${path}/progress`, { query, signal: cli.signal });
    alive();
    for await (const text of lines) {
      last = JSON.parse(text) as T;
      const next = lineOf(last);
      if (next !== line) print(cli.terminal, next);
      line = next;
    }
  };
  for (;;) {
    const isGone = await patiently(cli, read).then(
      () => false,
      goneIf(() => last !== undefined),
    );
    if (isGone) return undefined;
    if (!last || isSettled(last) || clock.monotonic() >= endsAtMs) return last;
    // A server that stops ends its answers; what went ends them too.
    await clock.sleep(ASK_AGAIN_MS, cli.signal);
  }
}

/** For a fault: true where what was there before is missing now. */
const goneIf =
  (wasThere: () => boolean) =>
  (thrown: unknown): true => {
    if (!wasThere() || Fault.from(thrown).kind !== 'missing') throw thrown;
    return true;
  };

/** For a fault: undefined where there is no such thing. */
export function unlessMissing(thrown: unknown): undefined {
  if (Fault.from(thrown).kind !== 'missing') throw thrown;
}

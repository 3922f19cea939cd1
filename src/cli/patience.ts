import { Fault } from '#core/fault.ts';
import type { Cli } from './command.ts';
import { remark } from './terminal.ts';

// A server that restarts or hands over is back within seconds; one that is away longer is named.
const PATIENCE_MS = 120_000;
const RETRY_MS = 500;

/**
 * Asks again while the server is away for a short time: sessions outlive it, so we do too.
 * A long answer calls `alive` when it begins, so that only the time without any answer counts.
 */
export async function patiently<T>(cli: Cli, ask: (alive: () => void) => Promise<T>): Promise<T> {
  const { clock } = cli.terminal;
  let awaySinceMs: number | undefined;
  let isSaid = false;
  const alive = (): void => {
    if (isSaid) remark(cli.terminal, 'the server is back');
    awaySinceMs = undefined;
    isSaid = false;
  };
  for (;;) {
    try {
      const answer = await ask(alive);
      alive();
      return answer;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      const isFirst = awaySinceMs === undefined;
      awaySinceMs ??= clock.monotonic();
      if (cli.signal.aborted || fault.kind !== 'unavailable' || clock.monotonic() - awaySinceMs > PATIENCE_MS) {
        throw fault;
      }
      // Long answers are cut now and then on the way; that is worth a word only where asking again fails too.
      if (!isFirst && !isSaid) {
        remark(cli.terminal, 'the server is away; waiting for its return');
        isSaid = true;
      }
      await clock.sleep(RETRY_MS, cli.signal);
    }
  }
}

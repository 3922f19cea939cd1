import { Fault } from '#core/fault.ts';
import type { Cli } from './command.ts';
import { remark, type Terminal } from './terminal.ts';

// A server that restarts or fails over answers within seconds; after longer than this the command fails.
const PATIENCE_MS = 120_000;
const RETRY_MS = 500;

// Number of waits at each terminal: `run --count` has many, and one message is enough.
const waiting = new WeakMap<Terminal, number>();

function openWait(terminal: Terminal) {
  let isWaiting = false;
  return {
    begin(): void {
      if (isWaiting) return;
      isWaiting = true;
      const others = waiting.get(terminal) ?? 0;
      waiting.set(terminal, others + 1);
      if (others === 0) remark(terminal, 'lost contact with the server; reconnecting');
    },
    end(isBack: boolean): void {
      if (!isWaiting) return;
      isWaiting = false;
      const others = (waiting.get(terminal) ?? 1) - 1;
      waiting.set(terminal, others);
      if (others === 0 && isBack) remark(terminal, 'connected to the server again');
    },
  };
}

/**
 * Retries while the server is unreachable for a short time: sessions survive that, so the command does too.
 * A long answer calls `alive` when it begins, so that only the time without any answer counts.
 */
export async function patiently<T>(cli: Cli, ask: (alive: () => void) => Promise<T>): Promise<T> {
  const { clock } = cli.terminal;
  let awaySinceMs: number | undefined;
  const wait = openWait(cli.terminal);
  const alive = (): void => {
    wait.end(true);
    awaySinceMs = undefined;
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
        wait.end(fault.kind !== 'unavailable');
        throw fault;
      }
      // Proxies cut long answers now and then; that is reported only if the retry fails too.
      if (!isFirst) wait.begin();
      await clock.sleep(RETRY_MS, cli.signal);
    }
  }
}

import type { Clock } from '#core/clock.ts';
import { DEFAULT_AGENT_LEASE_MS } from '#core/defaults.ts';

/** How long an agent runs without contact to the server. The lease starts at the start and at each lost connection. */
export interface AgentLease {
  /** The server may set the length, unless the machine's own file does. */
  connected(lengthMs?: number): void;
  lost(): void;
  /** Final: the closed connection after a clean shutdown does not start it again. */
  stop(): void;
}

export function startLease(
  clock: Clock,
  ownLengthMs: number | undefined,
  expired: (lengthMs: number) => void,
): AgentLease {
  let lengthMs = ownLengthMs ?? DEFAULT_AGENT_LEASE_MS;
  let cancel = (): void => {};
  let isRunning = false;
  let isOver = false;

  function run(): void {
    if (isRunning || isOver) return;
    isRunning = true;
    cancel = clock.alarm(lengthMs, () => expired(lengthMs));
  }

  function pause(): void {
    isRunning = false;
    cancel();
  }

  run();
  return {
    connected(newLengthMs) {
      pause();
      if (ownLengthMs === undefined && newLengthMs) lengthMs = newLengthMs;
    },
    lost: run,
    stop() {
      isOver = true;
      pause();
    },
  };
}

import { constants } from 'node:os';
import type { AgentReport } from '#core/agent-link.ts';
import type { Stop } from './folder.ts';

type Ended = Extract<AgentReport, { is: 'ended' }>;
export type RunEnd = Pick<Ended, 'how' | 'exitCode' | 'signal' | 'message'>;

/** What is known after all processes of a run have ended. */
export interface Remains {
  /** The exit code that the wrapper wrote; 128 + number for a signal. */
  readonly exitCode?: number | undefined;
  readonly stop?: Stop | undefined;
  /** The disk had no room for its output, or for its exit code. */
  readonly wasDiskFull?: boolean | undefined;
  /** How the wrapper itself ended, if it was our own child. */
  readonly wrapper?: { readonly code: number | null; readonly signal: string | null } | undefined;
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name] as const),
);

const DISK_FULL =
  'The disk of the worker is full: output of the session could not be written. Free space there, or use workers with larger disks.';

/** A program dies of SIGPIPE when its output can no longer be written: the full disk is then why it ended. */
function exitOf(exitCode: number, signal: string | undefined, wasDiskFull = false): RunEnd {
  if (signal === undefined || (wasDiskFull && signal === 'SIGPIPE')) return { how: 'exited', exitCode };
  return { how: 'signalled', exitCode, signal };
}

/**
 * How a run ended. A shell cannot tell `exit 143` from a death by SIGTERM, and neither can we:
 * the exit code is right in both cases, and what looks like a signal is called one.
 */
export function endOf({ exitCode, stop, wasDiskFull, wrapper }: Remains): RunEnd {
  const code = exitCode ?? wrapper?.code ?? undefined;
  const signal = code === undefined ? undefined : SIGNAL_NAMES.get(code - 128);
  // Without an exit code, so that callers see the one that `timeout` of the shell returns.
  if (stop?.how === 'timeout') return { how: 'timeout', signal: signal ?? 'SIGKILL', message: stop.message };
  if (stop && code === undefined) return { how: 'killed', exitCode: 137, signal: 'SIGKILL', message: stop.message };
  if (stop) return { how: 'killed', exitCode: code, signal, message: stop.message };
  if (code !== undefined) return { ...exitOf(code, signal, wasDiskFull), ...(wasDiskFull && { message: DISK_FULL }) };
  if (wrapper?.signal) return { how: 'signalled', exitCode: 137, signal: wrapper.signal };
  return {
    how: 'lost',
    message: wasDiskFull
      ? DISK_FULL
      : 'The processes of the session are gone and left no exit code; the worker may have restarted.',
  };
}

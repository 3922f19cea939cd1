import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Folder, Stop } from './folder.ts';
import { askToEnd, endAll, endWork, hangUp, type SignalTarget } from './signals.ts';

export interface StopRequest {
  readonly how: Stop['how'];
  /** Time between SIGTERM and SIGKILL; 0 skips SIGTERM. */
  readonly graceMs: number;
  readonly message?: string | undefined;
}

/** Ends a run: SIGTERM, then SIGKILL of the command, then SIGKILL of everything; continues after a restart of the agent. */
export interface Stopping {
  /** Why it is being ended. */
  readonly stop: Stop | undefined;
  request(request: StopRequest): void;
  /** Continues a stop that a former agent began. */
  resume(): void;
  /** The command runs: signals sent before it started are sent now. */
  reached(): void;
  /** The command has ended: its remaining processes get a moment to end too. */
  endLeftovers(): void;
  cancel(): void;
}

const LEFTOVERS_MS = 50;
const HANG_UP_MS = 1_000;
const AGAIN_MS = 100;
// A session that forks faster than we list processes is stopped as a whole group first.
const LAST_ROUND = 20;

export function openStopping(
  folder: Folder,
  target: () => SignalTarget,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Stopping {
  let stop: Stop | undefined;
  let isReachable = false;
  let isAsked = false;
  let endAtMs = Number.POSITIVE_INFINITY;
  let cancelEnd = (): void => {};
  let cancelHangUp = (): void => {};

  function end(round: number): void {
    if (round < LAST_ROUND) endWork(target());
    else endAll(target());
    cancelEnd = clock.alarm(AGAIN_MS, () => end(round + 1));
  }

  function endIn(ms: number): void {
    const atMs = clock.monotonic() + ms;
    if (atMs >= endAtMs) return;
    endAtMs = atMs;
    cancelEnd();
    if (ms > 0) cancelEnd = clock.alarm(ms, () => end(1));
    else end(1);
  }

  function carryOut(): void {
    if (!stop) return;
    const leftMs = Math.max(0, stop.killAt - clock.now());
    if (leftMs > 0) ask();
    endIn(leftMs);
  }

  // Once: many programs treat a second SIGTERM as "exit at once".
  function ask(): void {
    if (!isReachable || isAsked) return;
    isAsked = true;
    askToEnd(target());
    cancelHangUp = clock.alarm(HANG_UP_MS, () => hangUp(target()));
  }

  function writeDown(what: Stop): void {
    try {
      folder.writeStop(what);
    } catch (thrown) {
      // A full disk may prevent the record, but not the stop.
      log('error', 'cannot record the end of a session', { path: folder.path, error: Fault.from(thrown).message });
    }
  }

  return {
    get stop() {
      return stop;
    },
    request({ how, graceMs, message }) {
      const at = clock.now();
      const killAt = Math.min(stop?.killAt ?? Number.POSITIVE_INFINITY, at + graceMs);
      stop = { how: stop?.how ?? how, at: stop?.at ?? at, killAt, message: stop ? stop.message : message };
      writeDown(stop);
      carryOut();
    },
    resume() {
      stop = folder.readStop();
      carryOut();
    },
    reached() {
      if (isReachable) return;
      isReachable = true;
      carryOut();
    },
    endLeftovers: () => endIn(LEFTOVERS_MS),
    cancel() {
      cancelEnd();
      cancelHangUp();
    },
  };
}

import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Folder, Stop } from './folder.ts';
import { askToEnd, endAll, endWork, hangUp, type SignalTarget } from './signals.ts';

export interface StopRequest {
  readonly how: Stop['how'];
  /** Between the polite signal and the deadly one; 0 leaves out the first. */
  readonly graceMs: number;
  readonly message?: string | undefined;
}

/** Ends a run: politely, then surely, then at any price; also across a restart of the agent. */
export interface Stopping {
  /** Why it is being ended. */
  readonly stop: Stop | undefined;
  request(request: StopRequest): void;
  /** Goes on with what a former agent began. */
  resume(): void;
  /** The command is there, and hears what is asked of it: also what was asked before. */
  reached(): void;
  /** The command has ended: what it left behind gets a moment to do so too. */
  endLeftovers(): void;
  cancel(): void;
}

const LEFTOVERS_MS = 50;
const HANG_UP_MS = 1_000;
const AGAIN_MS = 100;
// A session that starts processes faster than we find them is stopped as a whole group first.
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

  // Once: to many programs a second polite signal means "at once".
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
      // A full disk keeps us from writing it down, not from doing it.
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

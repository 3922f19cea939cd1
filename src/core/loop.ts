import type { Clock } from './clock.ts';
import { formatDuration } from './duration.ts';
import { Fault, retryDelayMs } from './fault.ts';
import type { Log, LogFields } from './log.ts';
import type { Random } from './random.ts';

/** When to look again; nothing means when something changes. Throw a `Fault` to be called again after its back-off. */
export interface Again {
  readonly afterMs: number;
  /** Nothing was tried in this pass: it ends no series of failures. */
  readonly isUntried?: true | undefined;
}
// biome-ignore lint/suspicious/noConfusingVoidType: a pass that has nothing to say simply ends.
export type PassResult = Again | undefined | void;

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Brings one thing, read afresh by its id, to its wanted state. Passes that need not wait stay synchronous. */
  reconcile(id: string, signal: AbortSignal): PassResult | Promise<PassResult>;
  /** How many passes may be waiting for something at a time. */
  readonly concurrency?: number;
  /** How long to go on before other events get their turn. */
  readonly sliceMs?: number;
  /** What the log calls the thing of that id: `{ pool: 'gpu' }`; by default its id. */
  logged?(id: string): LogFields;
  failed?(id: string, fault: Fault): void;
}

export interface Loop {
  /** Ten pokes before the next pass make one pass; a poke during a pass makes one more. */
  poke(id: string): void;
  /** Forgets its alarm and its failures. */
  forget(id: string): void;
  /** No new pass starts; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

// Enough to keep a slice short where time stands still (the virtual clock).
const PASSES_PER_SLICE = 512;

export function startLoop(options: LoopOptions): Loop {
  const { clock, log, name, concurrency = 16, sliceMs = 5 } = options;
  const ready = new Set<string>();
  const running = new Set<string>();
  const pokedMeanwhile = new Set<string>();
  const alarms = new Map<string, () => void>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  let isScheduled = false;
  let allDone: (() => void) | undefined;

  function schedule(): void {
    if (isScheduled || stopping.signal.aborted) return;
    isScheduled = true;
    clock.soon(runSlice);
  }

  function runSlice(): void {
    isScheduled = false;
    const endMs = clock.monotonic() + sliceMs;
    let passes = 0;
    for (const id of ready) {
      if (stopping.signal.aborted || running.size >= concurrency) return;
      if (passes++ >= PASSES_PER_SLICE || clock.monotonic() > endMs) {
        schedule();
        return;
      }
      ready.delete(id);
      pass(id);
    }
  }

  function pass(id: string): void {
    cancelAlarm(id);
    try {
      const result = options.reconcile(id, stopping.signal);
      if (!(result instanceof Promise)) {
        succeeded(id, result);
        return;
      }
      running.add(id);
      result.then(
        (again) => ended(id, () => succeeded(id, again)),
        (thrown) => ended(id, () => failed(id, thrown)),
      );
    } catch (thrown) {
      failed(id, thrown);
    }
  }

  function ended(id: string, settle: () => void): void {
    running.delete(id);
    settle();
    if (pokedMeanwhile.delete(id)) poke(id);
    if (stopping.signal.aborted && running.size === 0) allDone?.();
    else if (ready.size > 0) schedule();
  }

  function succeeded(id: string, again: PassResult): void {
    if (!again?.isUntried) failures.delete(id);
    if (again) setAlarm(id, again.afterMs);
  }

  function failed(id: string, thrown: unknown): void {
    if (stopping.signal.aborted) return;
    const fault = Fault.from(thrown);
    const attempts = (failures.get(id) ?? 0) + 1;
    failures.set(id, attempts);
    const retryInMs = Math.round(retryDelayMs(fault, attempts, options.random.next()));
    const level = fault.kind === 'internal' ? 'error' : 'warn';
    const stack = fault.kind === 'internal' ? { stack: (fault.cause as Error | undefined)?.stack ?? fault.stack } : {};
    log(level, 'pass failed', {
      loop: name,
      ...(options.logged?.(id) ?? { id }),
      kind: fault.kind,
      error: fault.message,
      remedy: fault.remedy || undefined,
      attempts,
      retryIn: formatDuration(retryInMs),
      ...stack,
    });
    options.failed?.(id, fault);
    setAlarm(id, retryInMs);
  }

  function setAlarm(id: string, afterMs: number): void {
    cancelAlarm(id);
    if (stopping.signal.aborted) return;
    alarms.set(
      id,
      clock.alarm(afterMs, () => {
        alarms.delete(id);
        poke(id);
      }),
    );
  }

  function cancelAlarm(id: string): void {
    alarms.get(id)?.();
    alarms.delete(id);
  }

  function poke(id: string): void {
    if (stopping.signal.aborted) return;
    if (running.has(id)) {
      pokedMeanwhile.add(id);
      return;
    }
    ready.add(id);
    schedule();
  }

  return {
    poke,
    forget(id) {
      cancelAlarm(id);
      failures.delete(id);
      ready.delete(id);
      pokedMeanwhile.delete(id);
    },
    async stop() {
      stopping.abort();
      for (const id of alarms.keys()) cancelAlarm(id);
      if (running.size > 0) await new Promise<void>((resolve) => (allDone = resolve));
    },
  };
}

// One run of the model at a time: askers take turns, so that none waits for all the runs of another.
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type ModelLink, openModelLink } from './model-link.ts';
import type { ModelAnswer, ModelQuestion } from './model-question.ts';

/** Reads what the run needs; that is part of the turn. */
export type PrepareQuestion = (signal: AbortSignal) => ModelQuestion | Promise<ModelQuestion>;

export interface AskedBy {
  /** The id of a token; absent: the server itself, which goes first. */
  readonly token?: string | undefined;
  /** Ends the run, or the wait for it. */
  readonly signal?: AbortSignal | undefined;
}

/** The model in a thread of its own. */
export interface ModelThread {
  /** Rejects with `throttled` where two runs of that token wait, with `quota` where the run takes more than 10 s. */
  run(prepare: PrepareQuestion, by?: AskedBy): Promise<ModelAnswer>;
  close(): Promise<void>;
}

interface Waiting {
  start(): void;
}

export const LONGEST_RUN_MS = 10 * SECOND_MS;
const MOST_WAITING = 2;
const SERVER = '';

export function openModelThread(clock: Clock, link: ModelLink = openModelLink(clock)): ModelThread {
  const lines = new Map<string, Waiting[]>();
  let isRunning = false;
  let wasOfServer = false;
  let isClosed = false;

  /** The server's own run after each of another; the others in a circle. */
  function next(): void {
    isRunning = false;
    const others = [...lines.keys()].filter((key) => key !== SERVER);
    const key = !wasOfServer && lines.has(SERVER) ? SERVER : (others[0] ?? SERVER);
    const line = lines.get(key);
    const first = line?.shift();
    if (!line || !first) return;
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    isRunning = true;
    wasOfServer = key === SERVER;
    first.start();
  }

  function leave(key: string, waiting: Waiting): void {
    const left = lines.get(key)?.filter((one) => one !== waiting) ?? [];
    if (left.length > 0) lines.set(key, left);
    else lines.delete(key);
  }

  function turn({ token: key = SERVER, signal }: AskedBy): Promise<void> {
    if (isClosed) throw closed();
    signal?.throwIfAborted();
    if (!isRunning) {
      isRunning = true;
      wasOfServer = key === SERVER;
      return Promise.resolve();
    }
    const line = lines.get(key) ?? [];
    if (key !== SERVER && line.length >= MOST_WAITING) throw tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { start: resolve };
    const aborted = (): void => {
      leave(key, waiting);
      reject(Fault.from(signal?.reason));
    };
    lines.set(key, [...line, waiting]);
    signal?.addEventListener('abort', aborted, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', aborted));
  }

  async function runNow(prepare: PrepareQuestion, signal: AbortSignal | undefined): Promise<ModelAnswer> {
    const late = new AbortController();
    const cancel = clock.alarm(LONGEST_RUN_MS, () => late.abort(tooLong()));
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    try {
      const question = await prepare(either);
      return await link.ask(question, either);
    } finally {
      cancel();
    }
  }

  return {
    async run(prepare, by = {}) {
      await turn(by);
      try {
        if (isClosed) throw closed();
        return await runNow(prepare, by.signal);
      } finally {
        next();
      }
    },
    async close() {
      isClosed = true;
      await link.close();
    },
  };
}

const closed = (): Fault => new Fault('unavailable', 'The server stops.');

const tooMany = (): Fault =>
  new Fault('throttled', `This token has ${MOST_WAITING} forecasts that wait for their turn.`, {
    remedy: 'Wait for their answers.',
  });

const tooLong = (): Fault =>
  new Fault('quota', `The forecast takes more than ${LONGEST_RUN_MS / SECOND_MS} s.`, {
    remedy: 'Ask for a shorter time, or for fewer sessions.',
  });

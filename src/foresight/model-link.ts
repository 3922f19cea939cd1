// The program's end of the thread of the model.
import { Worker } from 'node:worker_threads';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { faultFrom } from '#store/plain-fault.ts';
import type { ModelAnswer, ModelQuestion } from './model-question.ts';
import type { FromModelThread } from './model-thread.ts';

/** A thread that answers one question at a time. It starts when it is needed, and ends when it is not. */
export interface ModelLink {
  /** An abort ends the thread, and with it the run. */
  ask(question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer>;
  close(): Promise<void>;
}

// Questions come in bursts, and a thread takes a tenth of a second to start.
const IDLE_MS = 10_000;
const MOST_MEMORY_MB = 512;

const startModelThread = (): Worker =>
  new Worker(new URL('./model-thread.mjs', import.meta.url), {
    name: 'muster-model',
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  });

export function openModelLink(clock: Clock): ModelLink {
  let thread: Worker | undefined;
  let stopWhenIdle = (): void => {};

  async function end(): Promise<void> {
    stopWhenIdle();
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  }

  function start(): Worker {
    const started = startModelThread();
    // A failure between two questions concerns no caller.
    started.on('error', () => {});
    started.unref();
    return started;
  }

  return {
    async ask(question, signal) {
      signal.throwIfAborted();
      stopWhenIdle();
      thread ??= start();
      const asked = thread;
      const { promise, resolve, reject } = Promise.withResolvers<ModelAnswer>();
      const fail = (fault: Fault): void => {
        if (thread === asked) void end();
        reject(fault);
      };
      const received = (message: FromModelThread): void =>
        'answer' in message ? resolve(message.answer) : reject(faultFrom(message.fault));
      const failed = (error: Error & { code?: string }): void => fail(faultOf(error));
      const exited = (): void => fail(new Fault('unavailable', 'The thread of the model has ended.'));
      const aborted = (): void => fail(Fault.from(signal.reason));
      asked.once('message', received).once('error', failed).once('exit', exited);
      signal.addEventListener('abort', aborted, { once: true });
      const { demand } = question;
      asked.postMessage(question, 'packed' in demand ? [demand.packed.buffer] : []);
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', aborted);
        asked.off('message', received).off('error', failed).off('exit', exited);
        stopWhenIdle = clock.alarm(IDLE_MS, () => void end());
      }
    },
    close: end,
  };
}

const faultOf = ({ code, message }: Error & { code?: string }): Fault =>
  code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new Fault('quota', `The model needs more than ${MOST_MEMORY_MB} MB.`, {
        remedy: 'Ask for a shorter time, or for fewer sessions.',
      })
    : new Fault('internal', `The thread of the model failed: ${message}`);

import type { Worker } from 'node:worker_threads';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type FromYamlThread, startYamlThread, type ToYamlThread } from './long-yaml.ts';

/** A thread that reads one text after the other. It starts when it is needed, and ends when it is not. */
export interface ReadingThread {
  /** Rejects with `invalid` where the thread fails on this text, or takes too long. What is given away is not copied. */
  ask(question: ToYamlThread, given?: readonly ArrayBuffer[]): Promise<FromYamlThread>;
}

const LONGEST_MS = 5_000;
// Texts come in bursts, and a thread takes a tenth of a second to start.
const IDLE_MS = 1_000;

export function openReadingThread(clock: Clock): ReadingThread {
  let thread: Worker | undefined;
  let stopWhenIdle = (): void => {};
  let queue: Promise<unknown> = Promise.resolve();

  function end(): void {
    void thread?.terminate();
    thread = undefined;
  }

  function start(): Worker {
    const started = startYamlThread();
    // A failure between two questions concerns no caller.
    started.on('error', () => {});
    return started;
  }

  function askNow(question: ToYamlThread, given: readonly ArrayBuffer[]): Promise<FromYamlThread> {
    stopWhenIdle();
    thread ??= start();
    const reader = thread;
    const { promise, resolve, reject } = Promise.withResolvers<FromYamlThread>();
    const fail = (why: string): void => {
      end();
      reject(new Fault('invalid', why, { remedy: 'Send less in one text.' }));
    };
    const failed = (error: Error): void => fail(`it cannot be read: ${error.message}`);
    const cancel = clock.alarm(LONGEST_MS, () => fail(`it takes longer than ${LONGEST_MS / 1_000} s to read`));
    reader.once('message', resolve);
    // The memory of a thread may overflow, as its stack may.
    reader.once('error', failed);
    reader.postMessage(question, given);
    return promise.finally(() => {
      cancel();
      reader.off('error', failed);
      reader.off('message', resolve);
      stopWhenIdle = clock.alarm(IDLE_MS, end);
    });
  }

  return {
    ask(question, given = []) {
      const answer = queue.then(() => askNow(question, given));
      queue = answer.catch(() => {});
      return answer;
    },
  };
}

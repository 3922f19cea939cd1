// The program's end of a thread.
import { Worker } from 'node:worker_threads';
import { Fault } from '#core/fault.ts';
import type { FromThread, Setup, ThreadListener, ToThread } from './engine.ts';
import { faultFrom } from './plain-fault.ts';

type Method = (...args: never[]) => Promise<unknown>;

export interface Link<Calls extends { [M in keyof Calls]: Method }> {
  /** Calls a method across threads; arguments and results are copied. */
  call<M extends keyof Calls & string>(method: M, ...args: Parameters<Calls[M]>): ReturnType<Calls[M]>;
  /** Ends the thread; every call that still waits is refused. */
  end(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(fault: Fault): void;
}

/** The thread's program: beside this file, or where a bundle has put it. */
function threadFile(override: URL | undefined): URL {
  return override ?? new URL('./database-thread.ts', import.meta.url);
}

// The thread gets no flags of the program's own, such as a debugger's port; and SQLite is stable enough for us.
const THREAD_FLAGS = ['--disable-warning=ExperimentalWarning'];

// What the thread makes lives for one commit: more room for it would only stand empty.
const THREAD_YOUNG_MB = 8;

export function startThread<Calls extends { [M in keyof Calls]: Method }>(
  setup: Setup,
  listener: ThreadListener,
  override?: URL,
): Link<Calls> {
  const thread = new Worker(threadFile(override), {
    workerData: setup,
    name: 'muster-store',
    execArgv: THREAD_FLAGS,
    resourceLimits: { maxYoungGenerationSizeMb: THREAD_YOUNG_MB },
  });
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let gone: Fault | undefined;
  let isEnding = false;

  function fail(fault: Fault): void {
    if (gone) return;
    gone = fault;
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
    if (!isEnding) listener.lost(fault);
  }

  function receive(message: FromThread): void {
    if (!('notice' in message)) return answer(message);
    if (message.notice === 'log') listener.log(...message.args);
    else if (message.notice === 'holder') listener.holder(...message.args);
    else fail(faultFrom(message.args[0]));
  }

  function answer(message: Extract<FromThread, { call: number }>): void {
    const caller = waiting.get(message.call);
    waiting.delete(message.call);
    if ('fault' in message) caller?.reject(faultFrom(message.fault));
    else caller?.resolve(message.result);
  }

  thread.on('message', receive);
  thread.on('error', (error: Error) => fail(new Fault('internal', `The store's thread failed: ${error.message}`)));
  thread.on('exit', () => fail(new Fault('unavailable', "The store's thread has ended.")));

  function call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (gone) return Promise.reject(gone);
    calls += 1;
    const message: ToThread = { call: calls, method, args };
    return new Promise((resolve, reject) => {
      waiting.set(message.call, { resolve, reject });
      thread.postMessage(message, transferable(args));
    });
  }

  return {
    call: (method, ...args) => call(method, args) as ReturnType<Calls[typeof method]>,
    async end() {
      isEnding = true;
      await thread.terminate();
    },
  };
}

/** The bytes of a part need not be copied: it was made for this one journey. */
function transferable(args: readonly unknown[]): ArrayBuffer[] {
  const data = (args[0] as { data?: unknown } | undefined)?.data;
  return data instanceof Uint8Array && data.length > 0 ? [data.buffer as ArrayBuffer] : [];
}

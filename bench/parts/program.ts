// Load generators and servers under test are programs of their own: neither takes the other's turn in an event loop.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Fault } from '#core/fault.ts';

interface Question {
  readonly call: number;
  readonly method: string;
  readonly argument: unknown;
}

interface Answer {
  readonly call: number;
  readonly result?: unknown;
  readonly error?: string;
}

type Method = (argument: never) => unknown;
/** What a program can be asked; arguments and answers are plain data. */
export type Calls = Readonly<Record<string, Method>>;

export interface Program<C extends Calls> {
  readonly pid: number;
  ask<M extends keyof C & string>(method: M, argument: Parameters<C[M]>[0]): Promise<Awaited<ReturnType<C[M]>>>;
  end(): Promise<void>;
}

/** Starts a file of `programs/`. */
export function startProgram<C extends Calls>(name: string, flags: readonly string[] = []): Program<C> {
  const file = fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url));
  const execArgv = ['--disable-warning=ExperimentalWarning', ...flags];
  const child = fork(file, { execArgv, serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map<number, (answer: Answer) => void>();
  let calls = 0;
  child.on('message', (answer) => waiting.get((answer as Answer).call)?.(answer as Answer));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      for (const [call, settle] of waiting) settle({ call, error: `The program ${name} has ended.` });
      resolve();
    });
  });

  return {
    pid: child.pid ?? 0,
    ask(method, argument) {
      calls += 1;
      const question: Question = { call: calls, method, argument };
      return new Promise((resolve, reject) => {
        waiting.set(question.call, ({ error, result }) => {
          waiting.delete(question.call);
          if (error === undefined) resolve(result as never);
          else reject(new Fault('internal', error));
        });
        child.send(question);
      });
    },
    async end() {
      child.disconnect();
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What a program answers its bench. */
export function serveCalls(calls: Calls): void {
  async function serve({ call, method, argument }: Question): Promise<void> {
    try {
      const result = await calls[method]?.(argument as never);
      process.send?.({ call, result } satisfies Answer);
    } catch (thrown) {
      process.send?.({ call, error: Fault.from(thrown).stack ?? String(thrown) } satisfies Answer);
    }
  }
  process.on('message', (question) => void serve(question as Question));
  process.on('disconnect', () => process.exit(0));
}

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Said } from './program.ts';

export interface Child {
  readonly process: ChildProcess;
  /** All that it has said so far. */
  readonly said: readonly Said[];
  /** Resolves with the first thing said that passes, now or later. */
  hears(passes: (said: Said) => boolean): Promise<Said>;
  /** Resolves when it has ended and everything it said was read. */
  readonly ended: Promise<void>;
}

/** Runs the test program; `shell` may set limits first. */
export function startChild(url: string, shell = ''): Child {
  const program = fileURLToPath(new URL('./program.ts', import.meta.url));
  const child = spawn('/bin/sh', ['-c', `${shell} exec "$0" "$@"`, process.execPath, program, url], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.pipe(process.stderr, { end: false });
  const said: Said[] = [];
  const listeners = new Set<(said: Said) => void>();
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const heard = JSON.parse(line) as Said;
    said.push(heard);
    for (const listener of listeners) listener(heard);
  });
  const ended = Promise.all([
    new Promise<void>((resolve) => child.once('exit', () => resolve())),
    new Promise<void>((resolve) => lines.once('close', resolve)),
  ]).then(() => {});

  return {
    process: child,
    said,
    ended,
    hears(passes) {
      const earlier = said.find(passes);
      if (earlier) return Promise.resolve(earlier);
      return new Promise((resolve) => {
        const listener = (heard: Said): void => {
          if (!passes(heard)) return;
          listeners.delete(listener);
          resolve(heard);
        };
        listeners.add(listener);
      });
    },
  };
}

/** The numbers that it said were durable. */
export function durableNumbers(child: Child): readonly number[] {
  return child.said.flatMap((said) => (said.said === 'durable' ? [said.number] : []));
}

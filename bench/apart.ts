// Each bench has a process of its own: none inherits the heap, the warm code or the open files of the one before.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#core/clock.ts';
import type { Bench, Figure } from './bench.ts';
import { openScratch, SCRATCH_VARIABLE } from './parts/scratch.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

interface ApartOptions {
  readonly isQuick: boolean;
  print(figure: Figure): void;
}

/** Answers why it failed, or nothing; whatever it has started ends with it. */
export function runApart(bench: Bench, { isQuick, print }: ApartOptions): Promise<string | undefined> {
  const scratch = openScratch();
  const child = fork(MAIN, ['--here', bench.name, ...(isQuick ? ['--quick'] : [])], {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning', ...process.execArgv],
    env: { ...process.env, [SCRATCH_VARIABLE]: scratch.path },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve) => {
    let isTooLate = false;
    const killGroup = (): void => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // Nothing of it is left.
      }
    };
    const interrupted = (): void => {
      killGroup();
      scratch.remove();
      process.exit(130);
    };
    const cancel = systemClock.alarm(bench.limitMs, () => {
      isTooLate = true;
      killGroup();
    });
    process.once('SIGINT', interrupted);
    child.on('message', (figure) => print(figure as Figure));
    child.once('exit', (code, signal) => {
      cancel();
      process.off('SIGINT', interrupted);
      killGroup();
      scratch.remove();
      if (isTooLate) resolve(`it took longer than ${bench.limitMs / 1_000} s`);
      else resolve(code === 0 ? undefined : `it ended with ${code ?? signal}`);
    });
  });
}

/** Runs it in this process and tells the parent each figure. */
export async function runHere(bench: Bench, isQuick: boolean): Promise<void> {
  await bench.run({
    isQuick,
    figure(name, value, more) {
      const figure: Figure = { name, value, ...more };
      process.send?.(figure);
    },
  });
  process.disconnect?.();
}

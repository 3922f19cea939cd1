// What lives on this machine, told by the mark that a world leaves in the environment of all that it starts.
import { readdirSync, readFileSync } from 'node:fs';
import { until } from '#core/testing/until.ts';
import { sendSignal } from '#host/processes.ts';

export interface Living {
  readonly pid: number;
  readonly command: string;
  readonly environment: string;
}

const NAME = 'MUSTER_TEST_WORLD';

export const markIn = (mark: string): Record<string, string> => ({ [NAME]: mark });

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

const isZombie = (pid: number): boolean => /\) [ZX] /.test(read(pid, 'stat'));

/** Every process of the machine that we may look at. */
export function everything(): Living[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((name) => {
    const pid = Number(name);
    return { pid, command: read(pid, 'cmdline'), environment: read(pid, 'environ') };
  });
}

/** All that a world has started, itself or through others, and that has not ended. */
export function livingOf({ mark, folder }: { readonly mark: string; readonly folder: string }): Living[] {
  return everything().filter(
    ({ pid, command, environment }) =>
      pid !== process.pid && (environment.includes(`${NAME}=${mark}`) || command.includes(folder)) && !isZombie(pid),
  );
}

/** Ends all of it; what is started meanwhile by those that still live is found in the next round. */
export async function endAll(world: { readonly mark: string; readonly folder: string }): Promise<void> {
  await until('all processes of the world have ended', () => {
    const left = livingOf(world);
    for (const { pid } of left) sendSignal(pid, 'SIGKILL');
    return left.length === 0;
  });
}

/** The same in one go, for the end of the test's own process. */
export function endAllNow(world: { readonly mark: string; readonly folder: string }): void {
  for (const { pid } of livingOf(world)) sendSignal(pid, 'SIGKILL');
}

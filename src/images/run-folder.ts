// The folder of each build on this machine, which tells later builds whether it is over.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS } from '#core/clock.ts';
import type { BuildMark } from '#core/image-builder.ts';

/** A process of this machine, distinct from every later one with its pid. */
export interface Runner {
  readonly pid: number;
  readonly start: string;
}

export interface RunFolders {
  /** Mode 0700; the returned function removes it. */
  open(mark: BuildMark, runner: Runner): { readonly folder: string; close(): void };
  /** Whether the build of such a mark is over, as far as this machine can tell. */
  isOver(mark: BuildMark, nowMs: number): boolean;
  /** Removes the folders of builds whose process has ended; call it once what they left is removed. */
  sweep(): void;
}

const OWNER = 'runner.json';
// No build takes so long; one of another machine is left alone until then.
const OVER_AFTER_MS = 6 * HOUR_MS;

/** Also where it is not known whether the process of the build still runs. */
export const isLongOver = ({ startedAt }: BuildMark, nowMs: number): boolean => nowMs - startedAt > OVER_AFTER_MS;

export function openRunFolders(root: string, isAlive: (runner: Runner) => boolean): RunFolders {
  function runnerOf(id: string): Runner | undefined {
    try {
      return JSON.parse(readFileSync(join(root, id, OWNER), 'utf8')) as Runner;
    } catch {
      return undefined;
    }
  }

  function isDead(id: string): boolean {
    const runner = runnerOf(id);
    return runner !== undefined && !isAlive(runner);
  }

  return {
    open(mark, runner) {
      const place = join(root, mark.id);
      const folder = join(place, 'build');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(place, OWNER), JSON.stringify(runner), { mode: 0o600 });
      return { folder, close: () => rmSync(place, { recursive: true, force: true }) };
    },
    isOver(mark, nowMs) {
      const runner = /^[a-z0-9]+$/.test(mark.id) ? runnerOf(mark.id) : undefined;
      return runner === undefined ? isLongOver(mark, nowMs) : !isAlive(runner);
    },
    sweep() {
      for (const id of readdirSync(root)) if (isDead(id)) rmSync(join(root, id), { recursive: true, force: true });
    },
  };
}

// A folder of its own for one test, and everything that the test starts in it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TestContext } from 'vitest';
import { endAll, endAllNow, type Living, livingOf, markIn } from './living.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');

export interface World {
  readonly folder: string;
  readonly dataDir: string;
  /** In the environment of all that is started here. */
  readonly mark: Readonly<Record<string, string>>;
  /** The environment of its processes: nothing of this machine but where programs are. */
  readonly env: Readonly<Record<string, string>>;
  path(name: string): string;
  /** Writes a file below the folder; answers its path. */
  write(name: string, text: string, mode?: number): string;
  /** The text of a file below the folder, empty where there is none. */
  read(name: string): string;
  lines(name: string): string[];
  living(): Living[];
  /** The living agents, by the name of their machine. */
  agents(): string[];
  /** Ends everything that was started here and removes the folder. */
  close(): Promise<void>;
}

/** Opens a world that ends with the test, whatever becomes of it; one that fails shows what its processes logged. */
export function openWorld(context?: Pick<TestContext, 'onTestFinished'>): World {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'muster-system-')));
  const mark = basename(folder);
  const own = { mark, folder };
  const path = (name: string): string => join(folder, name);
  const dataDir = path('data');
  const onExit = (): void => endAllNow(own);
  process.on('exit', onExit);
  const world: World = {
    folder,
    dataDir,
    mark: markIn(mark),
    env: { PATH: process.env.PATH ?? '', HOME: folder, LANG: 'C.UTF-8', MUSTER_DATA_DIR: dataDir, ...markIn(mark) },
    path,
    write(name, text, mode = 0o600) {
      mkdirSync(join(path(name), '..'), { recursive: true });
      writeFileSync(path(name), text, { mode });
      return path(name);
    },
    read(name) {
      try {
        return readFileSync(path(name), 'utf8');
      } catch {
        return '';
      }
    },
    lines: (name) => world.read(name).split('\n').filter(Boolean),
    living: () => livingOf(own),
    agents: () =>
      world
        .living()
        .flatMap(({ command }) => /\/agent-\w+\.mjs agent .*\/machines\/([^/ ]+)\//.exec(command)?.[1] ?? []),
    async close() {
      await endAll(own);
      process.off('exit', onExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  context?.onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(logsOf(world));
    await world.close();
  });
  return world;
}

const SHOWN_LINES = 60;

function logsOf(world: World): string {
  const files = readdirSync(world.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.log'),
  );
  return files.map((name) => `--- ${name}\n${world.lines(name).slice(-SHOWN_LINES).join('\n')}\n`).join('');
}

// `muster run --sync` of many small files beside `rsync -a` of the same folder to a daemon on loopback, in turns.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from '#core/clock.ts';
import { clearDataDir } from '../src/providers/process/testing.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { makePackage } from './parts/package.ts';
import { type Rsync, startRsync } from './parts/rsync.ts';
import { withFolder } from './parts/scratch.ts';
import { startServer } from './parts/server.ts';

const FILES = 1_000;
const FILE_BYTES = 10_000;
const FOLDERS = 20;
const POOL = {
  name: 'local',
  auto_scaler: { backend: { process: {} }, max_agents: 1, min_agents: 1, min_idle_agents: 0, max_idle_agents: 1 },
};

/** A folder of bytes that nobody has seen. */
function writeFolder(path: string): void {
  for (let n = 0; n < FOLDERS; n++) mkdirSync(join(path, `part${n}`), { recursive: true });
  for (let n = 0; n < FILES; n++) writeFileSync(join(path, `part${n % FOLDERS}`, `file${n}`), randomBytes(FILE_BYTES));
}

/** Milliseconds from the start of the command to the start of the session, whose files are there by then. */
async function timeToStart(command: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const startMs = systemClock.now();
  const { stdout } = await promisify(execFile)(command, ['run', ...words, '--', 'date', '+%s%3N'], { env });
  return Number(stdout) - startMs;
}

interface Times {
  readonly plain: number[];
  readonly first: number[];
  readonly again: number[];
  readonly rsyncFirst: number[];
  readonly rsyncAgain: number[];
}

function tell(report: Report, times: Times): void {
  const plain = median(times.plain);
  const hasPeer = times.rsyncAgain.length > 0;
  const alone = hasPeer ? '' : '; no rsync here to compare with';
  report.figure('sync-plain', plain, { note: `median of ${times.plain.length}` });
  for (const [when, ours, theirs] of [
    ['first', times.first, times.rsyncFirst],
    ['again', times.again, times.rsyncAgain],
  ] as const) {
    const [whole, peer] = [median(ours), median(theirs)];
    report.figure(`sync-${when}`, whole, { note: `whole command, ${ours.length} times${alone}` });
    if (!hasPeer) continue;
    report.figure(`sync-${when}-rsync`, peer, { note: 'whole command, in turns' });
    report.figure(`sync-${when}-whole-share`, whole / peer, { note: 'whole commands' });
    report.figure(`sync-${when}-share`, (whole - plain) / peer, { note: 'without a plain muster run' });
  }
}

interface Scene {
  readonly folder: string;
  readonly rsync: Rsync | undefined;
  start(...words: string[]): Promise<number>;
}

/** Each round has new bytes: both send them, and then both send the same folder again. */
async function takeTurns({ folder, rsync, start }: Scene, rounds: number): Promise<Times> {
  const times: Times = { plain: [], first: [], again: [], rsyncFirst: [], rsyncAgain: [] };
  for (let n = 0; n < rounds; n++) {
    const synced = join(folder, `synced${n}`);
    writeFolder(synced);
    times.first.push(await start('--sync', synced));
    if (rsync) times.rsyncFirst.push(await rsync.copy(synced, `copy${n}`));
    for (let m = 0; m < 3; m++) {
      times.plain.push(await start());
      times.again.push(await start('--sync', synced));
      if (rsync) times.rsyncAgain.push(await rsync.copy(synced, `copy${n}`));
    }
    rmSync(synced, { recursive: true });
  }
  return times;
}

async function measure(folder: string, report: Report): Promise<void> {
  const { command, entry } = await makePackage(join(folder, 'package'));
  const server = startServer({ folder, entry, config: { agent_pools: [POOL] } });
  const rsync = await startRsync(folder);
  try {
    const { http } = await server.serving;
    // The package runs by the Node on the path.
    const path = `${join(process.execPath, '..')}:${process.env.PATH}`;
    const env = { ...process.env, PATH: path, MUSTER_ADDRESS: http, MUSTER_TOKEN: server.token() };
    const scene: Scene = { folder, rsync, start: (...words) => timeToStart(command, words, env) };
    // One that has just started compiles its code first.
    await takeTurns(scene, 1);
    tell(report, await takeTurns(scene, report.isQuick ? 2 : 7));
  } finally {
    rsync?.stop();
    await server.stop();
    clearDataDir(server.dataDir);
  }
}

export const bench: Bench = {
  order: 46,
  name: 'sync',
  measures: [
    'sync-plain',
    'sync-first',
    'sync-first-rsync',
    'sync-first-share',
    'sync-first-whole-share',
    'sync-again',
    'sync-again-rsync',
    'sync-again-share',
    'sync-again-whole-share',
  ],
  limitMs: 240_000,
  run: (report) => withFolder((folder) => measure(folder, report)),
};

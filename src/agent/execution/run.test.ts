import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { silentLog } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { findProgram } from '#host/programs.ts';
import { type Folder, openFolder } from './folder.ts';
import { OUTPUT_LIMITS } from './output.ts';
import { openRun } from './run.ts';
import { openSessionFolders } from './session-folder.ts';
import { aSpec, newWorkDir } from './testing.ts';

let workDir: string;
beforeEach(() => {
  workDir = newWorkDir();
});
afterEach(() => rmSync(workDir, { recursive: true, force: true }));

const full = new Fault('unavailable', 'ENOSPC: no space left on device');

interface Circumstances {
  readonly output?: string;
  readonly broken?: Partial<Folder>;
  readonly hear?: (report: AgentReport) => void;
}

// So many acknowledged pieces make the index be written anew.
const WINDOW_PIECES = 1_024;

/** One that a loss of power ended before it reported its output. */
function aLostRun({ output = 'x', broken = {}, hear = () => {} }: Circumstances = {}) {
  const clock = new VirtualClock();
  const reported: string[] = [];
  const folder = { ...openFolder(join(workDir, 's1.1')), ...broken };
  mkdirSync(folder.path);
  writeFileSync(folder.outPath, output);
  const record = { session: 's1', attempt: 1, spec: aSpec(['true']), acceptedAt: 0, boot: 'another', launch: 1 };
  const run = openRun(record, folder, {
    ...{
      clock,
      log: silentLog,
      env: {},
      limits: { ...OUTPUT_LIMITS, pieceBytes: 1, windowPieces: WINDOW_PIECES },
      find: findProgram,
    },
    tools: { mkfifo: 'mkfifo', cat: 'cat', path: workDir },
    reserve: { withRoom: (act) => act() },
    folders: openSessionFolders({
      workDir,
      fetchContents: () => {
        throw new Fault('unsupported', 'no files');
      },
      clock,
    }),
    report(said) {
      hear(said);
      reported.push(said.is);
    },
    ended: () => {},
    forgotten: () => {},
  });
  run.adopt();
  return { clock, run, reported, folder };
}

test('an end that a full disk does not take is written once it has room, and tried once a second', async () => {
  let tries = 0;
  const { writeEnd } = openFolder(join(workDir, 's1.1'));
  const broken = {
    writeEnd(end: object) {
      tries += 1;
      if (tries <= 3) throw full;
      writeEnd(end);
    },
  };
  const { clock, run, reported } = aLostRun({ broken });

  for (let passedMs = 0; passedMs < 2_900; passedMs += 10) {
    await clock.advance(10);
    run.replay();
  }
  expect([tries, run.isOver]).toEqual([3, false]);
  await clock.advance(1_000);

  expect([tries, run.isOver]).toEqual([4, true]);
  expect(reported).toEqual(['output', 'ended']);
});

test('a failure after the end was written does not hide the end', async () => {
  let failures = 0;
  const hear = ({ is }: AgentReport): void => {
    if (is !== 'output' || failures > 0) return;
    failures += 1;
    throw full;
  };
  const { clock, run, reported } = aLostRun({ hear });
  await clock.settle();
  expect([run.isOver, reported]).toEqual([true, []]);

  await clock.advance(1_000);

  expect(reported).toEqual(['ended']);
});

test('an acknowledgement that a full disk does not take keeps nothing of the rest back', async () => {
  const { clock, run, reported, folder } = aLostRun({ output: 'x'.repeat(WINDOW_PIECES + 1) });
  await clock.settle();
  expect(reported).toHaveLength(WINDOW_PIECES);
  // As on a full disk: the index of its output cannot be written anew.
  mkdirSync(`${folder.indexPath}.draft`);

  expect(() => run.ack(WINDOW_PIECES, false)).toThrow();
  await clock.settle();

  expect(reported.slice(WINDOW_PIECES)).toEqual(['output', 'ended']);
});

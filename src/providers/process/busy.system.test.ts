import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aLaunch, OURS } from '#conformance/backend-world.ts';
import { systemClock } from '#core/clock.ts';
import type { Backend, Machine } from '#core/provider.ts';
import { until } from '#core/testing/until.ts';
import { bootId } from '#host/processes.ts';
import { commandLines } from '#host/testing.ts';
import { openProcessBackend } from './backend.ts';
import { ProcessConfig } from './config.ts';
import { forbidSessions } from './session-folders.ts';
import { clearDataDir, contextFor, newDataDir } from './testing.ts';

const url = (path: string): string => new URL(path, import.meta.url).href;
// Starts sessions as fast as it can, as the real agent does it; the folder is the one next to its file.
const BUSY_AGENT = `
const { openExecution } = await import('${url('../../agent/execution/open.ts')}');
const { systemClock } = await import('${url('../../core/clock.ts')}');
const workDir = process.argv.at(-1).replace(/agent.yaml$/, 'work');
const command = ['/bin/sh', '-c', 'trap "" TERM; sleep 300; sleep 300', workDir];
const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 0 };
const execution = await openExecution({ workDir, slots: 1000, clock: systemClock, log() {}, report() {} });
for (let at = 0; at < 30; at++) {
  execution.handle({ do: 'start', session: 's' + at, attempt: 1, spec });
  await systemClock.sleep(3);
}
setInterval(() => {}, 1000);
`;

const signal = new AbortController().signal;
let dataDir: string;
let backend: Backend;
beforeEach(async () => {
  dataDir = newDataDir();
  const agentCommand = [process.execPath, '--input-type=module', '-e', BUSY_AGENT];
  backend = await openProcessBackend(ProcessConfig.parse({}), contextFor(dataDir, { agentCommand }));
});
afterEach(() => clearDataDir(dataDir));

function processes(): string[] {
  return commandLines().filter((line) => line.includes(dataDir));
}

async function makeBusy(name: string): Promise<Machine> {
  await backend.create(aLaunch(OURS, [name]), signal);
  await until('five sessions', () => processes().filter((line) => line.includes(`${name}/work`)).length >= 5);
  return { name, mark: aLaunch(OURS, []).mark, createdAt: 0, state: 'running' };
}

describe('a session that an agent was about to start', () => {
  it('never starts once that is forbidden', async () => {
    const path = join(dataDir, 'work/sessions/s1.1');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'record.json'), JSON.stringify({ boot: bootId(), launch: 2 }));
    await forbidSessions({ workDir: join(dataDir, 'work') }, systemClock);
    const script = 'set -C; echo "$$" >"$1/pid.2" && touch "$1/ran"';
    execFileSync('/bin/sh', ['-c', `${script}; true`, 'sh', path], { stdio: 'ignore' });

    expect(existsSync(join(path, 'ran'))).toBe(false);
  });
});

describe('deleting a machine that is just starting sessions', () => {
  it.each([0, 20])('leaves nothing of it, %i ms later', async (ms) => {
    const machine = await makeBusy('m-1');
    await systemClock.sleep(ms);
    expect(await backend.delete([machine], signal)).toEqual([{ name: 'm-1' }]);

    // Only what is there now could start anything later.
    expect(processes()).toEqual([]);
    expect(await backend.list(signal)).toEqual([]);
  });
});

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aLaunch, OURS } from '#conformance/backend-world.ts';
import type { Backend } from '#core/provider.ts';
import { until } from '#core/testing/until.ts';
import { bootId, ownerOf, processStart } from '#host/processes.ts';
import { openProcessBackend } from './backend.ts';
import { ProcessConfig } from './config.ts';
import { openMachineFolder } from './machine-folder.ts';
import { clearDataDir, contextFor, newDataDir } from './testing.ts';

const isRoot = process.getuid?.() === 0;
const signal = new AbortController().signal;
// A user that every machine has.
const USER = 'daemon';

let dataDir: string;
let shared: string;
beforeEach(() => {
  dataDir = newDataDir();
  shared = newDataDir();
  chmodSync(shared, 0o755);
});
afterEach(() => {
  clearDataDir(dataDir);
  clearDataDir(shared);
});

/** An agent that only lives, as a program in a folder which is closed to others. */
async function openAs(user: string, more: object = {}): Promise<Backend> {
  const program = join(dataDir, 'agent.sh');
  writeFileSync(program, 'id >"$PWD/who"; pwd >>"$PWD/who"; sleep 300 & wait\n', { mode: 0o600 });
  const config = ProcessConfig.parse({ user, workDir: shared, ...more });
  const agentEnv = { HOME: '/root', USER: 'root', TMPDIR: dataDir };
  return openProcessBackend(config, contextFor(dataDir, { agentCommand: ['/bin/sh', program], agentEnv }));
}

function recordOf(name: string) {
  const folder = openMachineFolder(join(dataDir, 'machines'), name);
  const record = folder.record();
  return { record, pid: (record && folder.agent(record)?.pid) ?? 0 };
}

it('an unknown user is refused with what to do, and nothing is started', async () => {
  const backend = await openAs('no-such-user');
  const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);

  expect(outcome?.fault).toMatchObject({
    kind: 'missing',
    message: 'There is no user no-such-user on this machine.',
    remedy: 'Create the user there, or name another one.',
  });
  expect(await backend.list(signal)).toEqual([]);
});

it.skipIf(isRoot)('a server that is not root refuses `user` (needs another user than root)', async () => {
  const backend = await openAs('root');
  const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);

  expect(outcome?.fault).toMatchObject({
    kind: 'unsupported',
    message: 'Agents cannot run as root: the server does not run as root.',
  });
});

it('a name that would be an option of a program is no user', () => {
  expect(ProcessConfig.safeParse({ user: '--all' }).success).toBe(false);
});

describe.skipIf(!isRoot)('an agent of another user (needs root)', () => {
  it('runs as that user from a copy of its program, with a folder and a file that are its own alone', async () => {
    const backend = await openAs(USER, { env: { GREETING: 'hello' }, nice: 3 });
    const outcomes = await backend.create(aLaunch(OURS, ['m-1']), signal);
    const { pid } = recordOf('m-1');
    const home = join(shared, 'm-1');
    // Until then the process may still be `setpriv`, as root.
    await until('the agent runs', () => existsSync(join(home, 'who')));
    const uid = Number(execFileSync('id', ['-u', USER], { encoding: 'utf8' }));
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

    expect(outcomes).toEqual([{ name: 'm-1' }]);
    expect(await backend.list(signal)).toMatchObject([{ name: 'm-1', state: 'running' }]);
    expect(ownerOf(pid)).toBe(uid);
    expect(environment).toEqual(expect.arrayContaining(['GREETING=hello', `USER=${USER}`, 'HOME=/usr/sbin']));
    expect(environment.some((variable) => variable.startsWith('TMPDIR='))).toBe(false);
    expect(command[1]).toMatch(new RegExp(`^${shared}/\\.programs/\\w{12}-agent\\.sh$`));
    for (const path of [home, join(home, 'agent.yaml')]) {
      const { uid: owner, mode } = statSync(path);
      expect({ path, owner, others: mode & 0o077 }).toEqual({ path, owner: uid, others: 0 });
    }
    expect(existsSync(join(dataDir, 'machines/m-1/agent.yaml'))).toBe(false);
  });

  it('goes with all of its files when it is deleted', async () => {
    const backend = await openAs(USER);
    await backend.create(aLaunch(OURS, ['m-1']), signal);
    const { pid } = recordOf('m-1');
    const machines = await backend.list(signal);
    const outcomes = await backend.delete(machines, signal);

    expect(outcomes).toEqual([{ name: 'm-1' }]);
    expect(processStart(pid)).toBeUndefined();
    expect(existsSync(join(shared, 'm-1'))).toBe(false);
    expect(await backend.list(signal)).toEqual([]);
  });

  it('cannot have a process of another user signalled, a file of another user removed, or a listing wait', async () => {
    const backend = await openAs(USER);
    await backend.create(aLaunch(OURS, ['m-1']), signal);
    const { uid, gid } = statSync(join(shared, 'm-1'));
    const victim = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
    const kept = join(dataDir, 'kept');
    mkdirSync(kept);
    writeFileSync(join(kept, 'file'), '');
    const sessions = join(shared, 'm-1/sessions');
    const planted = join(sessions, 's1.1');
    mkdirSync(planted, { recursive: true });
    writeFileSync(join(planted, 'record.json'), JSON.stringify({ boot: bootId(), launch: 2 }));
    writeFileSync(join(planted, 'pid.1'), `${victim.pid} | ${readFileSync(`/proc/${victim.pid}/stat`, 'utf8')}`);
    mkdirSync(join(sessions, 's2.1'));
    execFileSync('mkfifo', [join(sessions, 's2.1/record.json')]);
    symlinkSync(kept, join(sessions, 's3.1'));
    writeFileSync(join(kept, 'record.json'), JSON.stringify({ boot: bootId(), launch: 1 }));
    for (const path of [sessions, planted, join(sessions, 's2.1')]) chownSync(path, uid, gid);

    const machines = await backend.list(signal);
    const outcomes = await backend.delete(machines, signal);

    expect(outcomes).toEqual([{ name: 'm-1' }]);
    expect(processStart(victim.pid ?? 0)).toBeDefined();
    expect(existsSync(join(kept, 'pid.1'))).toBe(false);
    expect(existsSync(join(kept, 'file'))).toBe(true);
    expect(existsSync(join(shared, 'm-1'))).toBe(false);
    victim.kill('SIGKILL');
  });

  it('is refused in a folder that others can change', async () => {
    chmodSync(shared, 0o777);
    const backend = await openAs(USER);
    const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(outcome?.fault).toMatchObject({
      kind: 'denied',
      at: 'work_dir',
      remedy: `Name another directory, or run: chown root ${shared} && chmod go-w ${shared}`,
    });
  });

  it('is refused in a folder that its user cannot reach', async () => {
    chmodSync(shared, 0o700);
    const backend = await openAs(USER);
    const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);

    expect(outcome?.fault).toMatchObject({ kind: 'denied', message: `The user ${USER} cannot reach ${shared}.` });
  });
});

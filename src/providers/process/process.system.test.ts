import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testBackend } from '#conformance/backend.ts';
import { aLaunch, contextWithLog, OURS, PLANTED_TOKEN } from '#conformance/backend-world.ts';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Machine } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { bootId, membersOf, processStart } from '#host/processes.ts';
import { commandLines } from '#host/testing.ts';
import { openProcessBackend } from './backend.ts';
import { ProcessConfig } from './config.ts';
import provider from './index.ts';
import { openMachineFolder } from './machine-folder.ts';
import { clearDataDir, contextFor, IDLE_AGENT, livingNames, newDataDir } from './testing.ts';

it.each(['.DS_Store', 'notes.txt', 'plain'])('%s beside the machines is none of them', async (name) => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, 'machines'), { recursive: true });
  writeFileSync(join(dataDir, 'machines', name), '');
  const backend = await openProcessBackend(ProcessConfig.parse({}), contextFor(dataDir));

  expect(await backend.list(new AbortController().signal)).toEqual([]);
  clearDataDir(dataDir);
});

testBackend('process', {
  kind: provider.backends.process,
  async openWorld() {
    const dataDir = newDataDir();
    const lines: string[] = [];
    return {
      open: (cluster) =>
        openProcessBackend(ProcessConfig.parse({}), contextWithLog({ ...contextFor(dataDir), cluster }, lines)),
      existing: async () => livingNames(dataDir),
      during: (call) => call,
      settle: async () => {},
      logged: () => lines.join('\n'),
      close: async () => clearDataDir(dataDir),
    };
  },
  excuses: {
    'lost reply': 'there is no wire between the server and its own processes; repeated launches are tried above',
    unlisted: 'a listing reads the folders of machines, and so does a deletion',
    hangs: 'nothing here waits for another side',
    'lists in part': 'there are no pages; an unreadable machine is tried below',
    'typed faults': 'there is no cloud that could fail',
    'late failure': 'a process that was started is there; one that ends at once is tried below',
  },
});

const signal = new AbortController().signal;
let dataDir: string;
let backend: Backend;
beforeEach(async () => {
  dataDir = newDataDir();
  backend = await open();
});
afterEach(() => clearDataDir(dataDir));

const open = (config: object = {}, agentCommand = IDLE_AGENT): Promise<Backend> =>
  openProcessBackend(ProcessConfig.parse(config), contextFor(dataDir, { agentCommand }));
const folderOf = (name: string) => openMachineFolder(join(dataDir, 'machines'), name);
const pidOf = (name: string): number => {
  const folder = folderOf(name);
  const record = folder.record();
  return (record && folder.agent(record)?.pid) ?? 0;
};

async function make(name = 'm-1', by = backend): Promise<Machine> {
  const [outcome] = await by.create(aLaunch(OURS, [name]), signal);
  if (outcome?.fault) throw outcome.fault;
  const machine = (await by.list(signal)).find((one) => one.name === name);
  if (!machine) throw new Fault('missing', `${name} is not listed.`);
  return machine;
}

/** Processes that have this word on their command line. */
function processesOf(word: string): string[] {
  return commandLines().filter((line) => line.includes(word));
}

async function killAgent(name: string): Promise<void> {
  const pid = pidOf(name);
  process.kill(-pid, 'SIGKILL');
  await until('its processes to end', () => membersOf('group', pid).length === 0);
}

/** What the agent of that machine has started for its own use. */
const childOf = (name: string): Promise<number> =>
  until('a child of the agent', () => membersOf('group', pidOf(name)).find((pid) => pid !== pidOf(name)));

async function gone(pid: number): Promise<void> {
  await until(`process ${pid} to end`, () => processStart(pid) === undefined);
}

/** As an agent's session looks on disk, with a living process of its own session and group. */
function plantSession(name: string): number {
  const path = join(dataDir, 'machines', name, 'work/sessions/s1.1');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'record.json'), JSON.stringify({ boot: bootId() }));
  const script = 'read -r s </proc/$$/stat; echo "$$ | $s" >"$1/pid.1"; trap "" TERM; sleep 300 & wait; sleep 300';
  execFileSync('setsid', ['-f', '/bin/sh', '-c', script, 'sh', path], { stdio: 'ignore' });
  while (!/\n/.test(existsSync(join(path, 'pid.1')) ? readFileSync(join(path, 'pid.1'), 'utf8') : '')) {
    execFileSync('sleep', ['0.01']);
  }
  return Number.parseInt(readFileSync(join(path, 'pid.1'), 'utf8'), 10);
}

describe('a machine', () => {
  it('is an agent in a session of its own, configured by a file that only we may read', async () => {
    const own = await open({ slots: 3, env: { GREETING: 'hello', p: 'own', s: 'own' }, nice: 5 });
    await make('m-1', own);
    const path = join(dataDir, 'machines/m-1/agent.yaml');
    const config = parse(readFileSync(path, 'utf8'));

    expect(config).toMatchObject({
      pool: 'law',
      joinToken: PLANTED_TOKEN,
      daemonConfig: { agentName: 'm-1', maxSessions: 3, workDirPath: join(dataDir, 'machines/m-1/work') },
    });
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(membersOf('session', pidOf('m-1'))).toContain(pidOf('m-1'));
    expect(getPriority(pidOf('m-1'))).toBe(5);
    const environment = readFileSync(`/proc/${pidOf('m-1')}/environ`, 'utf8');
    expect(environment).toContain('GREETING=hello\0');
    expect(environment).toContain('MUSTER_SESSION_ENV=GREETING,p,s\0');
    expect(environment.split('\0')).toEqual(expect.arrayContaining(['p=own', 's=own']));
    expect(processesOf(PLANTED_TOKEN)).toEqual([]);
    expect(environment).not.toContain(PLANTED_TOKEN);
  });

  it('gets nothing of the environment of the server', async () => {
    process.env.MUSTER_PLANTED = 'planted-in-a-server-3310';
    try {
      await make();
      expect(readFileSync(`/proc/${pidOf('m-1')}/environ`, 'utf8')).not.toContain('planted-in-a-server-3310');
    } finally {
      delete process.env.MUSTER_PLANTED;
    }
  });

  it('is listed again by a server that was restarted', async () => {
    const before = await make();
    const again = await open();

    expect(await again.list(signal)).toEqual([before]);
  });

  it('of the previous version is listed with the mark of a worker', async () => {
    const before = await make();
    const file = join(folderOf('m-1').path, 'machine.json');
    const { mark, ...record } = JSON.parse(readFileSync(file, 'utf8'));
    const { cluster, owner, shape } = mark;
    writeFileSync(file, JSON.stringify({ ...record, mark: { cluster, pool: owner, shape } }));

    expect(await backend.list(signal)).toEqual([before]);
    expect(before.mark).toMatchObject({ use: 'worker', owner });
  });

  it('whose server died before its process began is started by the repeated launch, once', async () => {
    const mark = aLaunch(OURS, ['m-1']).mark;
    const crashed = {
      name: 'm-1',
      mark,
      launch: 'launch-m-1',
      nonce: 'n1',
      boot: bootId(),
      createdAt: systemClock.now(),
    };
    await folderOf('m-1').claim({ ...crashed, workDir: join(dataDir, 'machines/m-1/work') });
    expect(await backend.list(signal)).toMatchObject([{ name: 'm-1', state: 'creating' }]);

    await make();

    expect(folderOf('m-1').record()?.nonce).toBe('n1');
    expect(await backend.list(signal)).toMatchObject([{ name: 'm-1', state: 'running' }]);
  });

  it('that never began is not listed for long', async () => {
    const mark = aLaunch(OURS, ['m-1']).mark;
    const crashed = {
      name: 'm-1',
      mark,
      launch: 'l',
      nonce: 'n1',
      boot: bootId(),
      createdAt: systemClock.now() - 60_000,
    };
    await folderOf('m-1').claim({ ...crashed, workDir: join(dataDir, 'machines/m-1/work') });

    expect(await backend.list(signal)).toEqual([]);
  });

  it('is not listed once its agent has ended and left nothing, and is not started again', async () => {
    await make();
    await killAgent('m-1');

    expect(await backend.list(signal)).toEqual([]);
    const [outcome] = await backend.create(aLaunch(OURS, ['m-1']), signal);
    expect(outcome?.fault?.message).toContain('agent.log');
    expect(livingNames(dataDir)).toEqual([]);
  });

  it('is listed as failed while sessions outlive its agent, and gone only when they are', async () => {
    await make();
    const session = plantSession('m-1');
    await killAgent('m-1');
    const [machine] = await backend.list(signal);
    expect(machine).toMatchObject({ name: 'm-1', state: 'failed', trouble: { final: true } });

    const outcomes = await backend.delete([machine as Machine], signal);

    expect(outcomes).toEqual([{ name: 'm-1' }]);
    await gone(session);
    expect(await backend.list(signal)).toEqual([]);
  });

  it('is not mistaken for another process that bears its number', async () => {
    await make();
    const record = folderOf('m-1').record();
    const pid = pidOf('m-1');
    // Until it has become its program, nothing can be read of it.
    await until('its program', () => readFileSync(`/proc/${pid}/environ`).length > 0);
    const stranger = { ...record, nonce: 'another' };
    writeFileSync(join(dataDir, 'machines/m-1/machine.json'), JSON.stringify(stranger));

    expect(await backend.list(signal)).toEqual([]);
    const machine: Machine = { name: 'm-1', mark: aLaunch(OURS, []).mark, createdAt: 0, state: 'running' };
    await backend.delete([machine], signal);
    expect(processStart(pid)).toBeDefined();
    process.kill(-pid, 'SIGKILL');
  });

  it('that cannot be read makes the listing fail rather than shrink', async () => {
    await make();
    const path = join(dataDir, 'machines/m-1/machine.json');
    const text = readFileSync(path, 'utf8');
    try {
      for (const broken of ['{"name": "m', '']) {
        writeFileSync(path, broken);
        await expect(backend.list(signal)).rejects.toThrow('machine.json');
      }
    } finally {
      writeFileSync(path, text);
    }
  });

  it('whose name would be a path is refused', async () => {
    const [outcome] = await backend.create(aLaunch(OURS, ['../../m-1']), signal);

    expect(outcome?.fault?.kind).toBe('invalid');
    expect(existsSync(join(dataDir, '../m-1'))).toBe(false);
  });

  it('whose agent cannot be started is reported with the place of its log', async () => {
    const broken = await open({}, ['/no/such/program']);
    const [outcome] = await broken.create(aLaunch(OURS, ['m-1']), signal);
    await until('the agent to end', () => livingNames(dataDir).length === 0);

    if (outcome?.fault) expect(outcome.fault).toMatchObject({ kind: 'unavailable' });
    expect(await broken.list(signal)).toEqual([]);
    expect(readFileSync(join(dataDir, 'machines/m-1/agent.log'), 'utf8')).toContain('/no/such/program');
  });
});

describe('deleting', () => {
  it('leaves nothing of what the agent itself has started', async () => {
    const machine = await make();
    const child = await childOf('m-1');
    await backend.delete([machine], signal);

    await gone(child);
  });

  it('leaves nothing of agent and sessions where no program lists processes', async () => {
    const machine = await make();
    const pids = [pidOf('m-1'), await childOf('m-1'), plantSession('m-1')];
    const { PATH } = process.env;
    process.env.PATH = dataDir;
    try {
      expect(await backend.delete([machine], signal)).toEqual([{ name: 'm-1' }]);
    } finally {
      process.env.PATH = PATH;
    }

    for (const pid of pids) await gone(pid);
  });

  it('ends an agent that does not listen, and its sessions', async () => {
    const deaf = await open({}, ['/bin/sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done', 'stand-in']);
    const machine = await make('m-1', deaf);
    const session = plantSession('m-1');
    const agent = pidOf('m-1');

    expect(await deaf.delete([machine], signal)).toEqual([{ name: 'm-1' }]);
    await gone(agent);
    await gone(session);
    expect(existsSync(join(dataDir, 'machines/m-1/work'))).toBe(false);
    expect(existsSync(join(dataDir, 'machines/m-1/agent.yaml'))).toBe(false);
  });

  it('is final: the name is not started again, not even by a launch that comes late', async () => {
    const machine = await make();
    await backend.delete([machine], signal);
    const never: Machine = { ...machine, name: 'm-2' };
    await backend.delete([never], signal);

    const outcomes = await backend.create(aLaunch(OURS, ['m-1', 'm-2']), signal);

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual(['conflict', 'conflict']);
    expect(livingNames(dataDir)).toEqual([]);
  });

  it('while the same machine is being created leaves nothing of it', async () => {
    const mark = aLaunch(OURS, ['m-1']).mark;
    const machine: Machine = { name: 'm-1', mark, createdAt: 0, state: 'running' };
    for (let round = 0; round < 20; round++) {
      const name = `m-${round}`;
      const creating = backend.create(aLaunch(OURS, [name]), signal);
      await systemClock.sleep(round / 2);
      await backend.delete([{ ...machine, name }], signal);
      await creating;
    }

    // A shell that has not had its turn yet finds its machine gone, and ends by itself.
    await until('no process of them is left', () => processesOf(dataDir).length === 0);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('ends also what another server makes in the midst of it', async () => {
    const url = (path: string): string => new URL(path, import.meta.url).href;
    const program = `
      const { openProcessBackend } = await import('${url('./backend.ts')}');
      const { contextFor } = await import('${url('./testing.ts')}');
      const [dataDir, launch] = process.argv.slice(1).map((text) => JSON.parse(text));
      const backend = await openProcessBackend({ slots: 1, env: {} }, contextFor(dataDir));
      await backend.create(launch, new AbortController().signal);`;
    const words = [dataDir, aLaunch(OURS, ['m-1'])].map((word) => JSON.stringify(word));
    let hasMade = false;
    const bytes = (count: number): Uint8Array => {
      if (!hasMade) execFileSync(process.execPath, ['--input-type=module', '-e', program, ...words]);
      hasMade = true;
      return systemRandom.bytes(count);
    };
    const context = contextFor(dataDir, { random: { ...systemRandom, bytes } });
    const deleting = await openProcessBackend(ProcessConfig.parse({}), context);
    const machine: Machine = { name: 'm-1', mark: aLaunch(OURS, []).mark, createdAt: 0, state: 'running' };
    await deleting.delete([machine], signal);

    expect(hasMade).toBe(true);
    expect(processesOf(dataDir)).toEqual([]);
  });

  it('frees the room of what has been dead for long, and forgets the name of what was deleted much later', async () => {
    const hourMs = 3_600_000;
    const later = (ms: number): Promise<Backend> =>
      openProcessBackend(
        ProcessConfig.parse({}),
        contextFor(dataDir, { clock: { ...systemClock, now: () => systemClock.now() + ms } }),
      );
    await make();
    await killAgent('m-1');

    await (await later(2 * hourMs)).list(signal);
    expect(existsSync(join(dataDir, 'machines/m-1/agent.log'))).toBe(false);
    expect(existsSync(join(dataDir, 'machines/m-1'))).toBe(true);
    await (await later(30 * hourMs)).list(signal);
    expect(existsSync(join(dataDir, 'machines/m-1'))).toBe(false);
  });
});

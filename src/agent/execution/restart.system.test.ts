import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import { type Clock, HOUR_MS, MINUTE_MS, systemClock } from '#core/clock.ts';
import type { SessionSpec } from '#core/session.ts';
import { until } from '#core/testing/until.ts';
import { bootId, processStart } from '#host/processes.ts';
import { openFolder } from './folder.ts';
import { aSpec, clearWorkDir, newWorkDir, openStand, type Stand } from './testing.ts';
import { spawnWrapper } from './wrapper.ts';

// An agent of its own that starts one session and can be killed without a chance to tidy up.
const AGENT = `
const { openExecution } = await import(process.argv[1]);
const { systemClock } = await import(process.argv[2]);
const report = (said) => console.log(JSON.stringify({ ...said, data: said.data && Buffer.from(said.data).toString() }));
const execution = await openExecution({ workDir: process.argv[3], slots: 4, clock: systemClock, log: () => {}, report });
const command = JSON.parse(process.argv[4]);
if (command.spec) execution.handle({ do: 'start', session: 's1', attempt: 1, ...command });
process.stdin.on('data', (text) => {
  for (const line of String(text).trim().split('\\n')) execution.handle(JSON.parse(line));
});
`;

type Said = Omit<AgentReport, 'data'> & { data?: string; seq?: number };
interface FormerAgent {
  readonly child: ChildProcess;
  readonly said: Said[];
  kill(): Promise<void>;
}

let workDir: string;
let stand: Stand | undefined;
let agents: FormerAgent[] = [];
beforeEach(() => {
  workDir = newWorkDir();
});
afterEach(async () => {
  for (const agent of agents) await agent.kill();
  agents = [];
  stand = undefined;
  clearWorkDir(workDir);
});

function startAgent(spec: SessionSpec): FormerAgent {
  const urls = ['./open.ts', '../../core/clock.ts'].map((path) => new URL(path, import.meta.url).href);
  const words = ['--input-type=module', '-e', AGENT, ...urls, workDir, JSON.stringify({ spec })];
  const child = spawn(process.execPath, words);
  child.stderr.pipe(process.stderr, { end: false });
  const said: Said[] = [];
  let rest = '';
  child.stdout.on('data', (text) => {
    const lines = (rest + String(text)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) said.push(JSON.parse(line) as Said);
  });
  const agent: FormerAgent = {
    child,
    said,
    async kill() {
      child.kill('SIGKILL');
      await until('the agent to end', () => (child.exitCode !== null || child.signalCode !== null ? true : undefined));
    },
  };
  agents.push(agent);
  return agent;
}

const shell = (script: string, more = {}) => aSpec(['/bin/sh', '-c', script], more);
const hasSaid = (agent: FormerAgent, part: string): Promise<true> =>
  until(`"${part}"`, () => (agent.said.some((said) => said.data?.includes(part)) ? true : undefined));

describe('an agent that is killed', () => {
  it('leaves its session running, and the next one delivers all of its output and its exit code', async () => {
    const ran = join(workDir, 'ran');
    const go = join(workDir, 'go');
    const script = `echo x >>${ran}; for i in 1 2 3 4 5 6; do echo line $i; until [ -e ${go}$i ]; do sleep 0.02; done; done; exit 9`;
    const proceed = (...steps: number[]): void => {
      for (const step of steps) writeFileSync(`${go}${step}`, '');
    };
    const agent = startAgent(shell(script));
    proceed(1);
    await hasSaid(agent, 'line 2');
    await agent.kill();
    proceed(2, 3);
    await until('output without an agent', () => readFileSync(join(workDir, 'sessions/s1.1/out')).includes('line 4'));

    stand = await openStand({ workDir });
    expect(stand.execution.executions()).toEqual([{ session: 's1', attempt: 1 }]);
    expect(stand.execution.running).toBe(1);
    proceed(4, 5, 6);
    const ended = await stand.said('s1', 'ended');

    expect(ended).toMatchObject({ how: 'exited', exitCode: 9 });
    expect(stand.text('s1')).toBe('line 1\nline 2\nline 3\nline 4\nline 5\nline 6\n');
    expect(readFileSync(ran, 'utf8')).toBe('x\n');
    for (const said of agent.said.filter((one) => one.is === 'output')) {
      const again = stand.reports.find((one) => one.is === 'output' && one.seq === said.seq);
      expect(Buffer.from(again?.is === 'output' ? again.data : []).toString()).toBe(said.data);
    }
  });

  it('does not keep a session from ending meanwhile', async () => {
    const agent = startAgent(shell('echo begun; sleep 0.3; echo done; exit 3'));
    await hasSaid(agent, 'begun');
    await agent.kill();
    await until('the exit code', () => (existsSync(join(workDir, 'sessions/s1.1/exit')) ? true : undefined));

    stand = await openStand({ workDir });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'exited', exitCode: 3 });
    expect(stand.reports[0]).toMatchObject({ is: 'started' });
    expect(stand.text('s1')).toBe('begun\ndone\n');
  });

  it('leaves no process that outlives the command', async () => {
    const agent = startAgent(shell('sleep 300 >/dev/null 2>&1 & echo "pid=$!="; sleep 0.3'));
    await hasSaid(agent, 'pid=');
    const pid = Number(/pid=(\d+)=/.exec(agent.said.map(({ data }) => data ?? '').join(''))?.[1]);
    await agent.kill();

    expect(pid).toBeGreaterThan(1);
    await until('the leftover to end', () => (processStart(pid) === undefined ? true : undefined));
  });

  it('does not close the stdin of its session; the next one goes on writing to it', async () => {
    const agent = startAgent(shell('echo begun; while read line; do echo got $line; done; echo eof', { stdin: true }));
    await hasSaid(agent, 'begun');
    await agent.kill();

    stand = await openStand({ workDir });
    await stand.said('s1', 'started');
    stand.execution.handle({ do: 'input', session: 's1', data: Buffer.from('two\n'), isLast: true });
    await stand.said('s1', 'ended');

    expect(stand.text('s1')).toBe('begun\ngot two\neof\n');
  });

  it('in the midst of ending a session leaves that to the next one', async () => {
    const agent = startAgent(shell('trap "" TERM; echo begun; while :; do sleep 0.05; done'));
    await hasSaid(agent, 'begun');
    agent.child.stdin?.write(`${JSON.stringify({ do: 'kill', session: 's1', force: false, graceMs: 600 })}\n`);
    await until('the order', () => (existsSync(join(workDir, 'sessions/s1.1/stop.json')) ? true : undefined));
    await agent.kill();

    stand = await openStand({ workDir });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 137 });
  });

  it('refuses to share its folder while it lives', async () => {
    const agent = startAgent(shell('echo begun; sleep 30'));
    await hasSaid(agent, 'begun');

    await expect(openStand({ workDir })).rejects.toThrow(`process ${agent.child.pid}`);
  });

  it('counts the time limit of its session from its start', async () => {
    const agent = startAgent(shell('echo begun; exec sleep 600', { timeoutMs: 2 * HOUR_MS, graceMs: 100 }));
    await hasSaid(agent, 'begun');
    await agent.kill();
    const left: number[] = [];
    const anHourLater: Clock = {
      ...systemClock,
      now: () => systemClock.now() + HOUR_MS,
      alarm(ms, ring) {
        if (ms < MINUTE_MS) return systemClock.alarm(ms, ring);
        left.push(ms);
        return () => {};
      },
    };

    stand = await openStand({ workDir, clock: anHourLater });
    await stand.said('s1', 'started');
    expect(left).toHaveLength(1);
    expect(left[0]).toBeLessThanOrEqual(HOUR_MS);
    stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });
    await stand.said('s1', 'ended');
  });

  it('past the time limit of its session has it ended by the next one', async () => {
    const agent = startAgent(shell('echo begun; exec sleep 600', { timeoutMs: HOUR_MS, graceMs: 100 }));
    await hasSaid(agent, 'begun');
    await agent.kill();

    stand = await openStand({ workDir, clock: { ...systemClock, now: () => systemClock.now() + HOUR_MS } });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'timeout' });
  });
});

const record = (spec: SessionSpec) => ({
  ...{ session: 's1', attempt: 1, spec, acceptedAt: systemClock.now(), boot: bootId(), launch: 1 },
});

describe('a record', () => {
  it('whose command had no time to start is started by the next agent, once', async () => {
    const ran = join(workDir, 'ran');
    const path = join(workDir, 'sessions/s1.1');
    mkdirSync(path, { recursive: true });
    const folder = openFolder(path);
    const spec = shell(`echo x >>${ran}; echo hello`);
    await folder.writeRecord(record(spec));

    stand = await openStand({ workDir });
    // The shell of the former agent, which was only slow.
    const command = { argv: spec.command, env: {}, cwd: '/', hasInput: false, hasTerminal: false };
    const tools = { mkfifo: '/usr/bin/mkfifo', cat: '/bin/cat', path: workDir };
    const slow = spawnWrapper(folder, 1, { tools, command });
    await Promise.all([once(slow, 'exit'), stand.said('s1', 'ended')]);

    expect(stand.text('s1')).toBe('hello\n');
    expect(readFileSync(ran, 'utf8')).toBe('x\n');
  });

  it('whose shell never came to be is started by the next agent', async () => {
    const path = join(workDir, 'sessions/s1.1');
    mkdirSync(path, { recursive: true });
    await openFolder(path).writeRecord(record(shell('echo hello')));

    stand = await openStand({ workDir });
    await stand.said('s1', 'ended');

    expect(stand.text('s1')).toBe('hello\n');
  });

  it('of a former start of the machine is reported as lost, and no other process is hurt', async () => {
    const bystander = spawn('sleep', ['30'], { detached: true });
    try {
      const path = join(workDir, 'sessions/s1.1');
      mkdirSync(path, { recursive: true });
      const folder = openFolder(path);
      await folder.writeRecord({ ...record(shell('true')), boot: 'another' });
      const stat = readFileSync(`/proc/${bystander.pid}/stat`, 'latin1').trim();
      writeFileSync(folder.pidPath(1), `${bystander.pid} | ${stat}\n`);

      stand = await openStand({ workDir });

      expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'lost', lastSeq: 0 });
      expect(processStart(bystander.pid as number)).toBeDefined();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('whose number belongs to another process by now is reported as lost, and that one lives on', async () => {
    const bystander = spawn('sleep', ['30'], { detached: true });
    try {
      const path = join(workDir, 'sessions/s1.1');
      mkdirSync(path, { recursive: true });
      const folder = openFolder(path);
      await folder.writeRecord(record(shell('true')));
      const stat = readFileSync(`/proc/self/stat`, 'latin1').trim();
      writeFileSync(folder.pidPath(1), `${bystander.pid} | ${stat}\n`);

      stand = await openStand({ workDir });

      expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'lost' });
      expect(processStart(bystander.pid as number)).toBeDefined();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('that is not whole was never acted upon, and goes', async () => {
    const path = join(workDir, 'sessions/s1.1');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'record.json.draft'), '{"sess');

    stand = await openStand({ workDir });

    expect(stand.execution.executions()).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  it('of a session that had to end before it could start is never started', async () => {
    const path = join(workDir, 'sessions/s1.1');
    mkdirSync(path, { recursive: true });
    await openFolder(path).writeRecord(record(shell('echo ran')));
    openFolder(path).writeStop({ how: 'killed', at: systemClock.now(), killAt: systemClock.now() + 60_000 });

    stand = await openStand({ workDir });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', lastSeq: 0 });
  });

  it('that cannot be taken over keeps the agent from joining without it', async () => {
    const path = join(workDir, 'sessions/s1.1');
    mkdirSync(path, { recursive: true });
    await openFolder(path).writeRecord(record(shell('true')));
    // As on a full disk: the index of its output cannot be written.
    mkdirSync(join(path, 'index.draft'));

    await expect(openStand({ workDir })).rejects.toMatchObject({
      kind: 'unavailable',
      at: path,
      message: expect.stringContaining('Cannot resume session s1'),
      remedy: expect.stringContaining('disk'),
    });
  });

  it('of a session that has ended keeps its result until it is acknowledged, over any number of agents', async () => {
    stand = await openStand({ workDir });
    stand.start('s1', shell('echo hello; exit 4'));
    await stand.said('s1', 'ended');

    for (let count = 0; count < 3; count++) {
      stand = await openStand({ workDir });
      expect(await stand.said('s1', 'ended')).toMatchObject({ exitCode: 4, lastSeq: 1 });
      expect(stand.text('s1')).toBe('hello\n');
    }
    stand.execution.handle({ do: 'ack', session: 's1', attempt: 1, seq: 1, result: true });
    stand = await openStand({ workDir });
    expect(stand.execution.executions()).toEqual([]);
  });
});

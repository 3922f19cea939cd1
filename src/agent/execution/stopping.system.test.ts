import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';

import type { SessionSpec } from '#core/session.ts';
import { until } from '#core/testing/until.ts';
import { membersOf, processStart } from '#host/processes.ts';
import { findProgram } from '#host/programs.ts';
import { openFolder, type RunProcesses, type RunRecord } from './folder.ts';
import { aSpec, openStand, type Stand } from './testing.ts';

let stand: Stand;
beforeEach(async () => {
  stand = await openStand();
});
afterEach(() => stand.close());

const shell = (script: string, more = {}) => aSpec(['/bin/sh', '-c', script], more);
const kill = (force: boolean, graceMs: number): void =>
  stand.execution.handle({ do: 'kill', session: 's1', force, graceMs });

/** The shell above the command makes its pipes before it writes down its number: here it waits for a word to go on. */
async function startSlowly(spec: SessionSpec): Promise<{ goOn(): void }> {
  const begun = join(stand.workDir, 'begun');
  const go = join(stand.workDir, 'go-on');
  const slow = join(stand.workDir, 'slow-mkfifo');
  writeFileSync(slow, `#!/bin/sh\n: >${begun}\nuntil [ -e ${go} ]; do sleep 0.02; done\nexec mkfifo "$@"\n`, {
    mode: 0o700,
  });
  const find: typeof findProgram = (name, ...where) => (name === 'mkfifo' ? slow : findProgram(name, ...where));
  stand = await openStand({ workDir: stand.workDir, find });
  stand.start('s1', spec);
  await until('the shell', () => (existsSync(begun) ? true : undefined));
  return { goOn: () => writeFileSync(go, '') };
}

describe('killing', () => {
  it('asks politely first, and lets the command say its last words', async () => {
    stand.start('s1', shell('trap "echo bye; exit 6" TERM; echo ready; while :; do sleep 0.05; done'));
    await stand.textHas('s1', 'ready');
    kill(false, 60_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 6 });
    expect(stand.text('s1', 'stdout')).toBe('ready\nbye\n');
  });

  it('sends SIGTERM once, however many commands come', async () => {
    const go = join(stand.workDir, 'go');
    stand.start('s1', shell(`trap "echo asked" TERM; echo ready; until [ -e ${go} ]; do sleep 0.05; done; echo over`));
    await stand.textHas('s1', 'ready');
    kill(false, 60_000);
    await stand.textHas('s1', 'asked');
    kill(false, 60_000);
    kill(false, 30_000);
    writeFileSync(go, '');
    await stand.said('s1', 'ended');

    expect(stand.text('s1', 'stdout')).toBe('ready\nasked\nover\n');
  });

  it('names the polite signal where the command dies of it', async () => {
    stand.start('s1', shell('echo ready; exec sleep 300'));
    await stand.textHas('s1', 'ready');
    kill(false, 60_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 143, signal: 'SIGTERM' });
  });

  it('ends the whole group after the grace, and keeps its last output', async () => {
    stand.start('s1', shell('trap "" TERM; (trap "" TERM; sleep 300) & echo $!; echo ready; wait; sleep 300'));
    await stand.textHas('s1', 'ready');
    const askedMs = systemClock.monotonic();
    kill(false, 300);
    const ended = await stand.said('s1', 'ended');

    expect(systemClock.monotonic() - askedMs).toBeGreaterThanOrEqual(295);
    expect(ended).toMatchObject({ how: 'killed', exitCode: 137, signal: 'SIGKILL' });
    const pid = stand.text('s1').split('\n')[0];
    await until('the child to end', () => (existsSync(`/proc/${pid}/exe`) ? undefined : true));
  });

  it('by force does not ask', async () => {
    stand.start('s1', shell('trap "echo bye" TERM; echo ready; while :; do sleep 0.05; done'));
    await stand.textHas('s1', 'ready');
    kill(true, 60_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 137 });
    expect(stand.text('s1')).toBe('ready\n');
  });

  it('by force after a polite request does not wait for its grace', async () => {
    stand.start('s1', shell('trap "" TERM; echo ready; while :; do sleep 0.05; done'));
    await stand.textHas('s1', 'ready');
    kill(false, 60_000);
    kill(true, 60_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 137 });
  });

  it('before the command could start keeps it from starting', async () => {
    stand.start('s1', shell('echo ran'));
    kill(false, 1_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', lastSeq: 0 });
  });

  it('before the shell above the command has written down its number keeps it from starting', async () => {
    const { goOn } = await startSlowly(shell('echo ran'));
    expect(existsSync(openFolder(stand.sessionPath('s1')).pidPath(1))).toBe(false);
    kill(false, 60_000);
    goOn();

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 143, lastSeq: 0 });
  });

  it.each([
    ['a command', {}],
    ['a command on a terminal', { terminal: { columns: 80, rows: 24, type: 'xterm' } }],
  ])('asks %s that has begun before the agent could see it', async (_, more) => {
    const ready = join(stand.workDir, 'ready');
    const { goOn } = await startSlowly(shell(`trap "exit 6" TERM; : >${ready}; while :; do sleep 0.05; done`, more));
    goOn();
    // Nothing else of this process runs meanwhile, so the agent does not see it begin.
    execFileSync('/bin/sh', ['-c', `until [ -e ${ready} ]; do sleep 0.01; done`]);
    kill(false, 60_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 6 });
  });

  it('by force keeps what the command had written, however slowly that comes through', async () => {
    const spoken = join(stand.workDir, 'spoken');
    const script = `echo ready; read line; echo "last words"; : >${spoken}; exec sleep 300`;
    stand.start('s1', shell(script, { stdin: true }));
    await stand.textHas('s1', 'ready');
    const folder = openFolder(stand.sessionPath('s1'));
    const record = folder.readRecord() as RunRecord;
    const { carriers, leader } = folder.readProcesses(record) as RunProcesses;
    const [carrier = 0] = carriers;
    const spared = [leader.pid, ...carriers];
    process.kill(carrier, 'SIGSTOP');
    stand.execution.handle({ do: 'input', session: 's1', data: Buffer.from('go\n'), isLast: true });
    await until('the last words', () => existsSync(spoken));
    kill(true, 0);
    await until('the command to end', () => membersOf('group', leader.pid).every((pid) => spared.includes(pid)));
    process.kill(carrier, 'SIGCONT');
    await stand.said('s1', 'ended');

    expect(stand.text('s1')).toBe('ready\nlast words\n');
  });

  it('right after the start ends it at once', async () => {
    for (const session of ['s2', 's3', 's4']) stand.start(session, shell('sleep 300'));
    await Promise.all(['s2', 's3', 's4'].map((session) => stand.said(session, 'started')));
    for (const session of ['s2', 's3', 's4']) stand.execution.handle({ do: 'kill', session, force: true, graceMs: 0 });
    const ends = await Promise.all(['s2', 's3', 's4'].map((session) => stand.said(session, 'ended')));

    // Which of the two signals ends the command is a race that either may win.
    for (const end of ends) expect(end).toMatchObject({ how: 'killed', exitCode: expect.toBeOneOf([137, 143]) });
  });

  it('reaches a command that is stopped', async () => {
    stand.start('s1', shell('echo ready; kill -STOP $$; echo woken'));
    await stand.textHas('s1', 'ready');
    kill(false, 60_000);

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 143 });
  });

  it('of the shell above it by somebody else ends the command too', async () => {
    stand.start('s1', shell('echo "$$ $PPID"; trap "" TERM HUP; while :; do sleep 0.05; done'));
    await stand.textHas('s1', '\n');
    const [command, wrapper] = stand.text('s1').trim().split(' ').map(Number) as [number, number];
    process.kill(wrapper, 'SIGKILL');

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'signalled', signal: 'SIGKILL', exitCode: 137 });
    await until('the command to end', () => (processStart(command) === undefined ? true : undefined));
  });

  it('of an unknown session is no error', () => {
    stand.execution.handle({ do: 'kill', session: 'nobody', force: true, graceMs: 0 });

    expect(stand.reports).toEqual([]);
  });
});

describe('the time limit', () => {
  it('ends a session that runs too long, politely and then surely', async () => {
    // On a busy machine a shell takes hundreds of milliseconds to come to its trap, and to leave it.
    stand.start(
      's1',
      shell('trap "echo bye" TERM; while :; do sleep 0.05; done', { timeoutMs: 1_000, graceMs: 1_000 }),
    );
    const ended = await stand.said('s1', 'ended');

    expect(ended).toMatchObject({ how: 'timeout', message: 'The session ran longer than 1s.' });
    expect(ended.exitCode).toBeUndefined();
    expect(stand.text('s1', 'stdout')).toBe('bye\n');
  });

  it('holds where the disk is full, and hurts no other session', async () => {
    stand.start('s1', shell('exec sleep 300', { timeoutMs: 500, graceMs: 5_000 }));
    await stand.said('s1', 'started');
    // As on a full disk: why it ends cannot be written down.
    mkdirSync(join(stand.sessionPath('s1'), 'stop.json.draft'));

    expect(await stand.said('s1', 'ended')).toMatchObject({
      how: 'timeout',
      message: 'The session ran longer than 500ms.',
    });
  });

  it('does not touch one that ends in time', async () => {
    stand.start('s1', shell('exit 0', { timeoutMs: 5_000, graceMs: 200 }));

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'exited', exitCode: 0 });
  });
});

import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#core/testing/until.ts';
import { commandLines } from '#host/testing.ts';
import { aSpec, openStand, type Stand } from './testing.ts';

let stand: Stand;
beforeEach(async () => {
  stand = await openStand();
});
afterEach(() => stand.close());

const shell = (script: string, more = {}) => aSpec(['/bin/sh', '-c', script], more);

describe('a session', () => {
  it('tells its start, its output and its end in this order, and is forgotten when all of it is acknowledged', async () => {
    stand.start('s1', shell('echo out; echo err >&2; exit 3'));
    const ended = await stand.said('s1', 'ended');

    expect(ended).toMatchObject({ attempt: 1, how: 'exited', exitCode: 3, lastSeq: 2 });
    expect(stand.text('s1', 'stdout')).toBe('out\n');
    expect(stand.text('s1', 'stderr')).toBe('err\n');
    expect(stand.reports.map((said) => said.is)).toEqual(['started', 'output', 'output', 'ended']);
    expect(stand.execution.executions()).toEqual([{ session: 's1', attempt: 1 }]);
    stand.execution.handle({ do: 'ack', session: 's1', attempt: 1, seq: 2, result: true });
    expect(stand.execution.executions()).toEqual([]);
    expect(readdirSync(join(stand.workDir, 'sessions'))).toEqual([]);
  });

  it('may open /dev/stderr and /dev/stdout anew without losing what it wrote before', async () => {
    stand.start('s1', shell('echo a >&2; echo b >/dev/stderr; echo c >&2; echo d; echo e >/dev/stdout'));
    await stand.said('s1', 'ended');

    expect(stand.text('s1', 'stderr')).toBe('a\nb\nc\n');
    expect(stand.text('s1', 'stdout')).toBe('d\ne\n');
  });

  it.each([
    ['plainly', {}],
    ['with a terminal', { terminal: { columns: 80, rows: 24, type: 'xterm' } }],
  ])('ends with 127 and one message where there is no such program, started %s', async (_, more) => {
    stand.start('s1', aSpec(['no-such-program'], more));
    const ended = await stand.said('s1', 'ended');

    expect(ended).toMatchObject({ how: 'exited', exitCode: 127, message: 'no-such-program: command not found' });
    expect(stand.text('s1')).toBe('');
  });

  it('ends with 126 and one message where the file is no program', async () => {
    stand.start('s1', aSpec(['/etc/passwd']));
    const ended = await stand.said('s1', 'ended');

    expect(ended).toMatchObject({ how: 'exited', exitCode: 126, message: '/etc/passwd: not an executable file' });
    expect(stand.text('s1')).toBe('');
  });

  it('never takes a built-in of the shell for its command', async () => {
    stand.start('s1', aSpec(['exit', '0']));

    expect(await stand.said('s1', 'ended')).toMatchObject({ exitCode: 127 });
  });

  it('passes arguments and environment as they stand', async () => {
    const odd = `it's "$HOME" \\ \n\t*`;
    stand.start('s1', shell('printf "%s|%s" "$1" "$ODD"'), 1);
    stand.start('s2', aSpec(['/bin/sh', '-c', 'printf "%s|%s" "$1" "$ODD"', 'sh', odd], { env: { ODD: odd } }));
    await stand.said('s2', 'ended');

    expect(stand.text('s2')).toBe(`${odd}|${odd}`);
  });

  it('is reported with the name of the signal that ended it', async () => {
    stand.start('s1', shell('kill -SEGV $$'));

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'signalled', signal: 'SIGSEGV', exitCode: 139 });
    expect(stand.text('s1')).toBe('');
  });

  it('leaves nothing behind: what its command started ends with it', async () => {
    stand.start('s1', shell('sleep 300 & echo $!; sleep 300 >/dev/null 2>&1 & echo $!'));
    await stand.said('s1', 'ended');

    const pids = stand.text('s1').trim().split('\n').map(Number);
    expect(pids).toHaveLength(2);
    await until('both to end', () => (pids.some((pid) => existsSync(`/proc/${pid}/exe`)) ? undefined : true));
  });
});

describe('the environment', () => {
  it('holds the base and what the session brings, and nothing of the agent: not in `env`, not in the list of processes', async () => {
    process.env.MUSTER_PLANTED = 'planted-in-an-agent-3309';
    try {
      stand.start('s1', shell('env; sleep 30', { env: { GREETING_3309: 'hello', HOME: '/elsewhere' } }));
      await stand.textHas('s1', 'GREETING_3309');
      const list = commandLines().join('\n');

      expect(stand.text('s1')).toContain('MUSTER_SESSION=s1\n');
      expect(stand.text('s1')).toContain('GREETING_3309=hello\n');
      expect(stand.text('s1')).toContain('HOME=/elsewhere\n');
      expect(stand.text('s1')).toMatch(/^PATH=/m);
      expect(stand.text('s1')).not.toContain('planted-in-an-agent-3309');
      expect(list).not.toContain('planted-in-an-agent-3309');
      expect(list).not.toContain('GREETING_3309');
    } finally {
      delete process.env.MUSTER_PLANTED;
    }
  });

  it.each([
    ['plainly', {}],
    ['with a terminal', { terminal: { columns: 80, rows: 24, type: 'xterm' } }],
  ])('reaches the command whole, whatever names it holds, started %s', async (_, more) => {
    const names = [
      ...'abcdefghijklmnopqrstuvwxyz',
      'cat',
      'code',
      'end',
      'mkfifo',
      'open',
      'out',
      'pid',
      'run',
      'self',
    ];
    const env = Object.fromEntries(names.map((name) => [name, `mine-${name}`]));
    stand.start('s1', aSpec(['env'], { env, ...more }));
    await stand.said('s1', 'ended');

    const lines = stand.text('s1').split(/\r?\n/);
    expect(names.filter((name) => !lines.includes(`${name}=mine-${name}`))).toEqual([]);
  });

  it('does not hang on a file that somebody tidied away', async () => {
    stand.start('s1', shell('true'));
    await stand.said('s1', 'ended');
    for (const name of readdirSync(stand.workDir).filter((file) => file.endsWith('.sh')))
      rmSync(join(stand.workDir, name));
    stand.start('s2', shell('echo again'));
    await stand.said('s2', 'ended');

    expect(stand.text('s2')).toBe('again\n');
  });

  it('keeps the record, which holds it, from other users', async () => {
    stand.start('s1', shell('sleep 30'));
    await stand.said('s1', 'started');

    expect(statSync(join(stand.sessionPath('s1'), 'record.json')).mode & 0o077).toBe(0);
    expect(statSync(stand.sessionPath('s1')).mode & 0o077).toBe(0);
  });
});

describe('a start', () => {
  it.each([
    ['../../etc', 'is not a valid session id'],
    ['a/b', 'is not a valid session id'],
    ['a.b', 'is not a valid session id'],
    ['', 'is not a valid session id'],
    [`${'x'.repeat(200)}`, 'is not a valid session id'],
  ])('is refused for the id "%s"', async (session, why) => {
    stand.start(session, aSpec(['true']));

    expect(stand.reports).toMatchObject([{ is: 'refused', session, why: expect.stringContaining(why) }]);
    expect(readdirSync(join(stand.workDir, 'sessions'))).toEqual([]);
  });

  it.each([
    ['a missing working directory', aSpec(['true'], { cwd: '/no/such/place' }), '/no/such/place'],
    ['a name that no shell keeps', aSpec(['true'], { env: { 'a.b': '1' } }), 'a.b'],
    ['no command', aSpec([]), 'no command'],
  ])('is refused for %s', async (_what, spec, why) => {
    stand.start('s1', spec);

    expect((await stand.said('s1', 'refused')).why).toContain(why);
    expect(stand.execution.executions()).toEqual([]);
    expect(readdirSync(join(stand.workDir, 'sessions'))).toEqual([]);
  });

  it('repeated is no second copy, and says again that it has started', async () => {
    const file = join(stand.workDir, 'ran');
    const go = join(stand.workDir, 'go');
    const spec = shell(`echo x >>${file}; until [ -e ${go} ]; do sleep 0.02; done`);
    stand.start('s1', spec);
    stand.start('s1', spec);
    // Not the file: the command may write it before the agent has looked.
    await stand.said('s1', 'started');
    stand.start('s1', spec);
    const started = (): number => stand.reports.filter((said) => said.is === 'started').length;
    await until('a second word', () => (started() > 1 ? true : undefined));

    expect(stand.execution.running).toBe(1);
    writeFileSync(go, '');
    await stand.said('s1', 'ended');
    expect(readFileSync(file, 'utf8')).toBe('x\n');
  });

  it('of another attempt is refused while one runs, and welcome afterwards', async () => {
    stand.start('s1', shell('sleep 30'));
    await stand.said('s1', 'started');
    stand.start('s1', shell('true'), 2);

    expect((await stand.said('s1', 'refused')).why).toContain('Attempt 1');
    stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });
    await stand.said('s1', 'ended');
    stand.start('s1', shell('echo second'), 3);
    await stand.textHas('s1', 'second');
  });

  it('is refused where all slots are taken, and a slot is free as soon as its session has ended', async () => {
    for (const session of ['s1', 's2', 's3', 's4']) stand.start(session, shell('read line', { stdin: true }));
    stand.start('s5', shell('true'));

    expect((await stand.said('s5', 'refused')).why).toContain('slots');
    expect(stand.execution.running).toBe(4);
    await stand.said('s1', 'started');
    stand.execution.handle({ do: 'input', session: 's1', data: Buffer.from('go\n'), isLast: true });
    await stand.said('s1', 'ended');
    stand.start('s6', shell('true'));
    expect(await stand.said('s6', 'ended')).toMatchObject({ exitCode: 0 });
  });
});

describe('stdin', () => {
  it('is empty unless asked for', async () => {
    stand.start('s1', aSpec(['cat']));

    expect(await stand.said('s1', 'ended')).toMatchObject({ exitCode: 0, lastSeq: 0 });
  });

  it('takes bytes as they come, also before the start and more than a pipe holds, and ends with the last', async () => {
    const part = Buffer.alloc(300_000, 'y');
    stand.start('s1', shell('wc -c', { stdin: true }));
    for (let count = 0; count < 10; count++)
      stand.execution.handle({ do: 'input', session: 's1', data: part, isLast: count === 9 });
    await stand.said('s1', 'ended');

    expect(stand.text('s1').trim()).toBe('3000000');
  });

  it('may be closed by the command without harm', async () => {
    stand.start('s1', shell('exec <&-; echo closed; sleep 0.2; echo done', { stdin: true }));
    await stand.textHas('s1', 'closed');
    stand.execution.handle({ do: 'input', session: 's1', data: Buffer.from('lost\n'), isLast: false });
    await stand.said('s1', 'ended');

    expect(stand.text('s1')).toContain('done');
  });
});

describe('draining', () => {
  it('takes nothing new and resolves when the last has ended', async () => {
    stand.start('s1', shell('read line', { stdin: true }));
    await stand.said('s1', 'started');
    let isDrained = false;
    const drained = stand.execution.drain('finish').then(() => {
      isDrained = true;
    });
    stand.start('s2', shell('true'));

    expect((await stand.said('s2', 'refused')).why).toContain('draining');
    expect(isDrained).toBe(false);
    stand.execution.handle({ do: 'input', session: 's1', data: Buffer.from('go\n'), isLast: true });
    await drained;
    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'exited', exitCode: 0 });
  });

  it('ends what runs with its grace where asked to, also what a former agent has started', async () => {
    stand.start('s1', shell('trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.05; done'));
    await stand.textHas('s1', 'up');
    const next = await openStand({ workDir: stand.workDir });
    await next.execution.drain('end');

    expect(await next.said('s1', 'ended')).toMatchObject({
      how: 'killed',
      exitCode: 3,
      message: 'The time of the worker is over.',
    });
    expect(next.text('s1')).toContain('bye');
  });

  it('kills what runs where asked to', async () => {
    stand.start('s1', shell('trap "" TERM; sleep 300'));
    await stand.said('s1', 'started');
    await stand.execution.drain('kill');

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', message: 'The worker is stopping.' });
  });
});

describe('input of a session', () => {
  const takenOf = (session: string): number =>
    stand.reports.reduce(
      (most, said) => (said.is === 'input taken' && said.session === session ? said.bytes : most),
      -1,
    );
  const feed = (session: string, bytes: number): void =>
    stand.execution.handle({ do: 'input', session, data: new Uint8Array(bytes), isLast: false });

  it('is taken as fast as the session reads it, and the server learns how much', async () => {
    stand.start('slow', aSpec(['sleep', '600'], { stdin: true }));
    stand.start('fast', aSpec(['cat'], { stdin: true }));
    await Promise.all([stand.said('slow', 'input taken'), stand.said('fast', 'input taken')]);
    expect([takenOf('slow'), takenOf('fast')]).toEqual([0, 0]);

    for (let n = 0; n < 8; n++) for (const session of ['slow', 'fast']) feed(session, 128 * 1024);

    await until('all input taken', () => (takenOf('fast') === 8 * 128 * 1024 ? true : undefined));
    // The kernel's own buffer of a pipe holds half a piece.
    expect(takenOf('slow')).toBe(0);
  });
});

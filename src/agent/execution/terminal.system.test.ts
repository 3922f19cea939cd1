import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type FindProgram, findProgram } from '#host/programs.ts';
import { aSpec, openStand, type Stand } from './testing.ts';

let stand: Stand;
afterEach(() => stand.close());

const terminal = { columns: 91, rows: 23, type: 'vt100' };
const type = (text: string): void =>
  stand.execution.handle({ do: 'input', session: 's1', data: Buffer.from(text), isLast: false });
const without =
  (...names: string[]): FindProgram =>
  (name, path, cwd) =>
    names.includes(name) ? undefined : findProgram(name, path, cwd);

// Does what our program for Python does, by `script`: a machine need not have Python to be tested.
const STAND_IN = '#!/bin/sh\nshift 2\nexec script -qefc "exec $*" /dev/null\n';
const bin = mkdtempSync(join(tmpdir(), 'muster-terminal-'));
writeFileSync(join(bin, 'python3'), STAND_IN, { mode: 0o755 });
afterAll(() => rmSync(bin, { recursive: true, force: true }));

const withPython: FindProgram = (name, path, cwd) =>
  without('script')(name, path, cwd) ?? (name === 'python3' ? join(bin, name) : undefined);

const MAKERS = [
  ['script', without('python3')],
  ['Python', withPython],
] as const;

describe.each(MAKERS)('a terminal made by %s', (_maker, find) => {
  it('is one: with its size, its type, its own shell, and the exit code of the command', async () => {
    stand = await openStand({ find });
    const command = ['/bin/sh', '-c', 'test -t 0 && test -t 1 && stty size; echo "$TERM $SHELL"; exit 7'];
    stand.start('s1', aSpec(command, { terminal, env: { SHELL: '/bin/odd' } }));

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'exited', exitCode: 7 });
    expect(stand.text('s1', 'stdout')).toBe('23 91\r\nvt100 /bin/odd\r\n');
  });

  it('passes on what is typed, and its interrupt key', async () => {
    stand = await openStand({ find });
    // Whenever the key comes after that line, one of the short sleeps or the shell itself hears it.
    const script =
      'trap "echo caught; c=1" INT; echo ready; read line; echo "got $line"; until [ "$c" ]; do sleep 0.05; done; echo after';
    stand.start('s1', aSpec(['/bin/sh', '-c', script], { terminal }));
    await stand.textHas('s1', 'ready');
    type('word\r');
    await stand.textHas('s1', 'got word');
    type('\x03');
    await stand.textHas('s1', 'after');

    expect(stand.text('s1')).toContain('caught');
    expect(await stand.said('s1', 'ended')).toMatchObject({ exitCode: 0 });
  });

  it('tells its programs when its size changes', async () => {
    stand = await openStand({ find });
    const script = 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done';
    stand.start('s1', aSpec(['/bin/sh', '-c', script], { terminal }));
    await stand.textHas('s1', 'ready');
    stand.execution.handle({ do: 'resize', session: 's1', columns: 120, rows: 40 });

    await stand.textHas('s1', '40 120');
  });

  it('is ended with all that runs on it, interactive shells and their jobs too', async () => {
    stand = await openStand({ find });
    stand.start('s1', aSpec(['bash', '--norc', '-i'], { terminal }));
    await stand.said('s1', 'started');
    type('nohup sleep 300 >/dev/null 2>&1 &\r');
    type('echo "job=$!="\r');
    const pid = await until('the job', () => /job=(\d+)=/.exec(stand.text('s1'))?.[1]);
    stand.execution.handle({ do: 'kill', session: 's1', force: false, graceMs: 8_000 });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', signal: 'SIGHUP' });
    await until('the job to end', () => (existsSync(`/proc/${pid}/exe`) ? undefined : true));
  });

  it('is ended by force', async () => {
    stand = await openStand({ find });
    const script = 'trap "" TERM HUP; echo ready; while :; do sleep 0.05; done';
    stand.start('s1', aSpec(['/bin/sh', '-c', script], { terminal }));
    await stand.textHas('s1', 'ready');
    stand.execution.handle({ do: 'kill', session: 's1', force: true, graceMs: 0 });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 137 });
  });

  it('lets a program end by TERM in its own way', async () => {
    stand = await openStand({ find });
    const script = 'trap "echo bye; exit 6" TERM; echo ready; while :; do sleep 0.05; done';
    stand.start('s1', aSpec(['/bin/sh', '-c', script], { terminal }));
    await stand.textHas('s1', 'ready');
    stand.execution.handle({ do: 'kill', session: 's1', force: false, graceMs: 5_000 });

    expect(await stand.said('s1', 'ended')).toMatchObject({ how: 'killed', exitCode: 6 });
    expect(stand.text('s1')).toContain('bye');
  });
});

describe('a terminal', () => {
  it('is refused with the remedy where no program makes one', async () => {
    stand = await openStand({ find: without('script', 'python3') });
    stand.start('s1', aSpec(['sh'], { terminal }));

    expect((await stand.said('s1', 'refused')).why).toMatch(/Install `script`/);
  });
});

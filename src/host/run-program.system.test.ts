import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import type { ProgramCall } from '#core/programs.ts';
import { going } from '#core/testing/going.ts';
import { openPrograms } from './run-program.ts';

const variables: Readonly<Record<string, string>> = { PATH: process.env.PATH ?? '', HOME: '/home/me', SECRET: 'x' };
const programs = openPrograms({ clock: systemClock, variable: (name) => variables[name] });

const shell = (script: string, more: Partial<ProgramCall> = {}): ProgramCall => ({
  program: 'sh',
  args: ['-c', script],
  folder: tmpdir(),
  env: {},
  ...more,
});

describe('a program', () => {
  it('hands on its lines as they come, the last one without an end too, and its exit code', async () => {
    const lines: string[] = [];
    const line = (text: string, from: string): void => void lines.push(`${from}: ${text}`);

    const end = await programs.run(shell('echo one; echo two >&2; printf three; exit 7', { line }), going());

    expect(end).toEqual({ code: 7 });
    expect(lines.toSorted()).toEqual(['stderr: two', 'stdout: one', 'stdout: three']);
  });

  it('finds what it is given and what every program finds, and nothing else of our environment', async () => {
    const lines: string[] = [];
    const call = shell('env | cut -d= -f1 | sort; cat', { env: { CLOUD_KEY: 'k' }, input: 'typed' });

    await programs.run({ ...call, line: (text) => lines.push(text) }, going());

    expect(lines.filter((name) => !['_', 'PWD', 'SHLVL', 'OLDPWD'].includes(name))).toEqual([
      'CLOUD_KEY',
      'HOME',
      'PATH',
      'typed',
    ]);
  });

  it('that is given up may clean up; its end is that of its own choice', async () => {
    const giveUp = new AbortController();
    const lines: string[] = [];
    const line = (text: string): void => {
      lines.push(text);
      if (text === 'ready') giveUp.abort();
    };
    const script = 'trap "echo cleaned; exit 3" INT; echo ready; while :; do sleep 0.05; done';

    const end = await programs.run(shell(script, { line }), giveUp.signal);

    expect(end).toEqual({ code: 3 });
    expect(lines).toEqual(['ready', 'cleaned']);
  });

  it('that is given up is interrupted with all that it has started, as by a terminal', async () => {
    const giveUp = new AbortController();
    const lines: string[] = [];
    const line = (text: string): void => {
      lines.push(text);
      if (text === 'ready') giveUp.abort();
    };
    const inner = 'trap "echo cleaned; exit 3" INT; echo ready; while :; do sleep 0.05; done';

    const end = await programs.run(
      shell(`trap : INT; sh -c '${inner}'; exit $?`, { line, graceMs: 3_000 }),
      giveUp.signal,
    );

    expect(end).toEqual({ code: 3 });
    expect(lines).toEqual(['ready', 'cleaned']);
  });

  it('that goes on after its grace is killed with all that it started', async () => {
    const giveUp = new AbortController();
    const line = (text: string): void => {
      if (text === 'ready') giveUp.abort();
    };
    const script = 'trap "" INT; sleep 600 & echo ready; wait';

    const end = await programs.run(shell(script, { line, graceMs: 10 }), giveUp.signal);

    expect(end).toEqual({ code: undefined, signal: 'SIGKILL' });
  });

  it('that is not there is a fault which names it', async () => {
    expect(programs.find('no-such-program')).toBeUndefined();
    await expect(programs.run({ ...shell(''), program: 'no-such-program' }, going())).rejects.toMatchObject({
      kind: 'missing',
      message: 'There is no program no-such-program on this machine.',
    });
  });
});

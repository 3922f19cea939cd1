import { describe, expect, it } from 'vitest';
import { SessionIn, Session as SessionSchema } from '../../api/wire/session.ts';
import { ANSWERS } from '../testing/examples.ts';
import { draftOf, leftOut, NO_DRAFT, readDraft } from './draft.ts';

const session = SessionSchema.parse((ANSWERS['/sessions'] as { items: readonly unknown[] }).items[0]);

describe('the form for a new session', () => {
  it('makes a request with what was written alone', () => {
    const draft = { ...NO_DRAFT, pool: 'gpu', command: 'python train.py' };

    expect(readDraft(draft)).toEqual({ path: '/sessions', body: { pool: 'gpu', command: ['python', 'train.py'] } });
  });

  it('makes a request of every field that the server takes', () => {
    const { body, path } = readDraft({
      ...{ pool: ' gpu ', computer: '', command: 'make && make test', isShell: true, hasTerminal: true },
      ...{ name: 'build', cwd: '/src', env: 'A=1\n\nB=x=y\nC=', labels: 'zone=a' },
      ...{ priority: '-5', retries: '2', timeout: '90s', grace: '1m' },
    }) as { path: string; body: object };

    expect(path).toBe('/sessions');
    expect(body).toEqual({
      pool: 'gpu',
      command: ['/bin/sh', '-c', 'make && make test'],
      ...{ name: 'build', cwd: '/src', env: { A: '1', B: 'x=y', C: '' }, labels: { zone: 'a' } },
      ...{ priority: -5, retries: 2, timeout: '90s', grace: '1m', terminal: {} },
    });
    expect(SessionIn.safeParse(body).error).toBeUndefined();
  });

  it('names each field that is wrong, before the server is asked', () => {
    const draft = { ...NO_DRAFT, command: 'a | b', env: 'novalue', labels: '=x', priority: 'high', retries: '1.5' };

    expect(Object.keys(readDraft(draft).faults ?? {})).toEqual(['command', 'env', 'labels', 'priority', 'retries']);
    expect(readDraft({ ...NO_DRAFT, isShell: true }).faults).toEqual({ command: 'Write the command to run.' });
  });

  it('filled in with a session makes the same request again', () => {
    const before = {
      ...session,
      ...{ labels: { zone: 'a' }, priority: 3, retries: 1, timeout: '1m', grace: '5s', cwd: '/w', terminal: true },
      env_names: [],
    };
    expect(readDraft(draftOf(before))).toEqual({
      path: '/sessions',
      body: {
        ...{ pool: 'gpu', command: ['python', 'train.py', 'a word'], cwd: '/w', labels: { zone: 'a' } },
        ...{ priority: 3, retries: 1, timeout: '1m', grace: '5s', terminal: {} },
      },
    });
    const shell = { ...session, command: ['/bin/sh', '-c', "echo 'a' | wc"] };
    expect(draftOf(shell)).toMatchObject({ command: "echo 'a' | wc", isShell: true });
    const { pool: _, ...there } = { ...session, computer: 'my box' };
    expect(readDraft(draftOf(there))).toMatchObject({ path: '/computers/my%20box/sessions' });
  });

  it('says what it could not take over', () => {
    expect(leftOut(session)).toEqual([expect.stringContaining('A.')]);
    const files = { manifest: 'a'.repeat(64), count: 2, bytes: 10 };
    expect(leftOut({ ...session, env_names: [], files })).toEqual([expect.stringContaining('Its files')]);
    expect(draftOf({ ...session, files, cwd: 'src' }).cwd).toBe('');
    expect(leftOut({ ...session, env_names: [] })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { baseEnvironment, sessionEnvironment } from './environment.ts';
import { aSpec } from './testing.ts';

describe('the environment of a session', () => {
  it('is a clean base, what the agent passes on, and what the session brings, each over the former', () => {
    const spec = aSpec(['true'], { env: { LANG: 'de_DE.UTF-8', MUSTER_SESSION: 'forged' } });
    const { env } = sessionEnvironment('s1', spec, {
      env: { PATH: '/opt/bin', LANG: 'fr_FR.UTF-8', MUSTER_POOL: 'p' },
    });

    expect(env).toMatchObject({ PATH: '/opt/bin', LANG: 'de_DE.UTF-8', MUSTER_POOL: 'p', MUSTER_SESSION: 's1' });
    expect(env.TERM).toBeUndefined();
  });

  it('has the type of its terminal', () => {
    const terminal = { columns: 80, rows: 24, type: 'vt100' };

    expect(sessionEnvironment('s1', aSpec(['true'], { terminal }), { env: {} }).env.TERM).toBe('vt100');
  });

  it('starts at home, or at the root where there is none', () => {
    expect(sessionEnvironment('s1', aSpec(['true']), { env: { HOME: '/tmp' } }).cwd).toBe('/tmp');
    expect(sessionEnvironment('s1', aSpec(['true']), { env: { HOME: '/no/such/home' } }).cwd).toBe('/');
  });

  it('refuses what cannot be passed on', () => {
    expect(() => sessionEnvironment('s1', aSpec(['true'], { env: { 'a-b': '1' } }), { env: {} })).toThrow('"a-b"');
    expect(() => sessionEnvironment('s1', aSpec(['true'], { env: { A: 'x\0y' } }), { env: {} })).toThrow('zero byte');
  });
});

describe('what an agent passes on of its own', () => {
  it('is a few names, those of its configuration, and its pool', () => {
    const variables: Record<string, string> = {
      PATH: '/bin',
      HOME: '/home/x',
      MUSTER_JOIN_TOKEN: 'secret',
      AWS_SECRET_ACCESS_KEY: 'secret',
      GREETING: 'hello',
      MUSTER_SESSION_ENV: 'GREETING,ABSENT',
    };

    expect(baseEnvironment((name) => variables[name], 'local')).toEqual({
      PATH: '/bin',
      HOME: '/home/x',
      GREETING: 'hello',
      MUSTER_POOL: 'local',
    });
  });
});

describe('the working directory', () => {
  const cwdOf = (cwd: string | undefined, filesFolder?: string) =>
    sessionEnvironment('s1', aSpec(['true'], { ...(cwd !== undefined && { cwd }) }), { env: {}, filesFolder }).cwd;

  it('is the folder of the files, and a relative one is inside it', () => {
    expect(cwdOf(undefined, '/usr')).toBe('/usr');
    expect(cwdOf('bin', '/usr')).toBe('/usr/bin');
    expect(cwdOf('/tmp', '/usr')).toBe('/tmp');
    expect(() => cwdOf('no-such-folder', '/usr')).toThrow('no-such-folder does not exist');
  });

  it('is refused where it is relative and there are no files: it would be the private folder of the agent', () => {
    expect(() => cwdOf('bin')).toThrow(
      expect.objectContaining({ kind: 'invalid', remedy: expect.stringContaining('--sync') }),
    );
  });
});

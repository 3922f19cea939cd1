import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { agentFile, poolNameOf } from './agent-file.ts';

const boot = (agentConfig: string) => ({ agentConfig, token: 'mlt_secret' });

describe("an agent's file", () => {
  it('joins what the launch says, its token, and what the backend knows', () => {
    const text = agentFile(
      boot('pool: gpu\nbroker:\n  address: h:1\ndaemonConfig:\n  maxSessions: 1\n  agentName: x\n'),
      {
        name: 'm-1',
        slots: 4,
        workDir: `/var/lib/$${'{odd}'}`,
      },
    );

    expect(parse(text)).toEqual({
      pool: 'gpu',
      broker: { address: 'h:1' },
      joinToken: 'mlt_secret',
      daemonConfig: { agentName: 'm-1', maxSessions: 4, workDirPath: '/var/lib/$${odd}' },
    });
  });

  it('leaves alone what the backend does not know', () => {
    expect(parse(agentFile(boot('daemonConfig:\n  maxSessions: 3\n'), {}))).toEqual({
      joinToken: 'mlt_secret',
      daemonConfig: { maxSessions: 3 },
    });
    expect(parse(agentFile(boot(''), {}))).toEqual({ joinToken: 'mlt_secret', daemonConfig: {} });
  });

  it('names the pool as users know it', () => {
    expect(poolNameOf(boot('pool: gpu\n'))).toBe('gpu');
    expect(poolNameOf(boot('{}'))).toBeUndefined();
    expect(() => poolNameOf(boot('- a'))).toThrow('not a map');
  });
});

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Boot } from '#core/provider.ts';
import { type AgentOverrides, agentFile, hasEnd, poolNameOf, withOverrides, withoutEnd } from './agent-file.ts';

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

  it('has no token where there is no server to join', () => {
    expect(parse(agentFile({ agentConfig: 'serve: 8000\n', token: '' }, {}))).toEqual({
      serve: 8_000,
      daemonConfig: {},
    });
  });

  it('shows whether the agent ends at a time, also where a text in it only looks so', () => {
    const written = (agentConfig: string): string => agentFile(boot(agentConfig), {});

    expect(hasEnd(written('pool: gpu\nendsAt: 2026-01-01T00:00:00Z\n'))).toBe(true);
    expect(hasEnd(written('{"endsAt": "2026-01-01T00:00:00Z"}'))).toBe(true);
    for (const config of ['pool: gpu\n', 'labels:\n  endsAt: x\n', 'broker:\n  ca: |\n    a\n    endsAt: x\n'])
      expect(hasEnd(written(config))).toBe(false);
  });

  it('has no end where the cloud deletes the machine', () => {
    const ending = boot('pool: gpu\nendsAt: 2026-01-01T00:00:00Z\n');

    expect(hasEnd(agentFile(withoutEnd(ending), {}))).toBe(false);
    expect(parse(withoutEnd(ending).agentConfig)).toEqual({ pool: 'gpu' });
    expect(withoutEnd(boot('pool: gpu'))).toEqual(boot('pool: gpu'));
  });

  it('names the pool as users know it', () => {
    expect(poolNameOf(boot('pool: gpu\n'))).toBe('gpu');
    expect(poolNameOf(boot('{}'))).toBeUndefined();
    expect(() => poolNameOf(boot('- a'))).toThrow('not a map');
  });
});

const BOOT: Boot = {
  agentConfig: 'broker:\n  address: ours:1\n  ca: pem\npool: gpu\ndaemonConfig:\n  maxSessions: 1\n',
  token: 't',
};
const overridden = (overrides: AgentOverrides): unknown => parse(withOverrides(BOOT, overrides).agentConfig);

describe('overrides of a pool', () => {
  it('change nothing where there are none', () => {
    expect(withOverrides(BOOT, {})).toBe(BOOT);
    expect(withOverrides(BOOT, { agentConfig: {} })).toBe(BOOT);
  });

  it('stand over the launch’s settings, in either spelling; labels keep their keys', () => {
    const agentConfig = { daemon_config: { max_sessions: 4, workDirPath: '/data' }, labels: { gpu_kind: 'a' } };

    expect(overridden({ agentConfig })).toEqual({
      broker: { address: 'ours:1', ca: 'pem' },
      pool: 'gpu',
      daemonConfig: { maxSessions: 4, workDirPath: '/data' },
      labels: { gpu_kind: 'a' },
    });
  });

  it('leave pool and token to the launch, and replace a broker only whole', () => {
    const agentConfig = { pool: 'other', join_token: 'x', broker: { address: 'theirs:1' } };

    expect(overridden({ agentConfig })).toMatchObject({ pool: 'gpu', broker: { address: 'theirs:1' } });
    expect((overridden({ agentConfig }) as { broker: object }).broker).toEqual({ address: 'theirs:1' });
    expect(overridden({ agentConfig: { broker: { publicAddress: 'x' } } })).toMatchObject({
      broker: { address: 'ours:1' },
    });
    expect(overridden({ agentConfig })).not.toHaveProperty('joinToken');
  });

  it('leave the port and the end of a launch that has them, and may set them where it has none', () => {
    const agentConfig = { ends_at: '2099-01-01T00:00:00Z', serve: 1 };
    const limited = { ...BOOT, agentConfig: `${BOOT.agentConfig}serve: 8000\nendsAt: 2026-01-01T00:00:00Z\n` };

    expect(parse(withOverrides(limited, { agentConfig }).agentConfig)).toMatchObject({
      serve: 8_000,
      endsAt: '2026-01-01T00:00:00Z',
    });
    expect(overridden({ agentConfig })).toMatchObject({ serve: 1, endsAt: '2099-01-01T00:00:00Z' });
  });

  it('may be a text, which an object beats', () => {
    expect(overridden({ agentConfigContent: 'labels: {a: b}' })).toMatchObject({ labels: { a: 'b' } });
    expect(overridden({ agentConfigContent: 'labels: {a: b}', agentConfig: { lease: '1m' } })).not.toHaveProperty(
      'labels',
    );
  });
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentConfig, brokerIn, loadAgentConfig, readAgentConfig, writeAgentConfig } from './agent-file.ts';
import { describeProblem } from './problem.ts';
import { testEnvironment } from './testing.ts';

const environment = testEnvironment({ TOKEN: 'tok' }, { '/run/join': 'filed' });
const EMPTY: AgentConfig = { broker: {}, slots: 1, workDir: '/tmp/agent', labels: {} };

describe('readAgentConfig', () => {
  it('has a default for everything', () => {
    expect(readAgentConfig('{}', environment).value).toEqual(EMPTY);
  });

  it('reads the keys that agents of Velda have, and our own', () => {
    const text = `
broker: {address: "https://muster.example.com:443", ca: "-----BEGIN CERTIFICATE-----"}
pool: gpu
join_token: file:/run/join
labels: {zone: a, disk: 10}
lease: 10m
daemon_config:
  agent_name: w-1
  max_sessions: 4
  work_dir_path: /var/agent
  mtls_client_cert_path: /c.pem
  mtls_client_key_path: /k.pem
`;

    expect(readAgentConfig(text, environment).value).toEqual({
      broker: { address: 'https://muster.example.com:443', ca: '-----BEGIN CERTIFICATE-----' },
      pool: 'gpu',
      joinToken: 'filed',
      labels: { zone: 'a', disk: '10' },
      leaseMs: 600_000,
      name: 'w-1',
      slots: 4,
      workDir: '/var/agent',
      mtls: { cert: '/c.pem', key: '/k.pem' },
    });
  });

  it('accepts every other key of such a file with one warning each', () => {
    const text = `
broker: {address: "a:1", public_address: "b:1"}
session: s
instance: "12"
task_id: t
service: v
sandbox_config:
  disk_source: {cas_config: {cas_cache_dir: /c, use_direct_protocol: true, flags: [a], cache_sources: [b]}, nfs_mount_source: {mount_options: x}}
  allowed_host_mount_sources: [/a]
  host_mounts: [{source: /a, target: /b, read_write: true}]
  max_time: 60s
  host_local_mount_base_dir: /m
  allocate_tty: true
  apparmor_profile: p
  nvidia_driver_install_dir: /n
daemon_config:
  max_sessions: 0
  network: {private_cidr_range: 10.0.0.0/8, network_mode: NETWORK_MODE_BRIDGE}
  primary_network_device_name: eth0
`;

    const { value, warnings } = readAgentConfig(text, environment);

    expect(value).toMatchObject({ broker: { address: 'a:1' }, slots: 1 });
    expect(warnings).toHaveLength(14);
    expect(new Set(warnings.map(({ path }) => path)).size).toBe(14);
  });

  it.each([
    ['pol: gpu', '1:1: pol: is not a known key; did you mean pool?'],
    [
      'daemon_config: {mtls_client_cert_path: /c}',
      '1:16: daemon_config: needs both mtls_client_cert_path and mtls_client_key_path, or neither',
    ],
    ['join_token: file:/none', '1:13: join_token: cannot read /none: it does not exist'],
    ['labels: [a]', '1:9: labels: must be a map of keys, not a list'],
    ['lease: 0s', '1:8: lease: must be at least 1s'],
  ])('refuses %s', (text, problem) => {
    expect(readAgentConfig(text, environment).problems?.map((one) => describeProblem(one))).toEqual([problem]);
  });
});

describe('loadAgentConfig', () => {
  it('is as an empty file where there is none', () => {
    expect(loadAgentConfig(environment, undefined, () => false)).toEqual({
      config: EMPTY,
      file: undefined,
      warnings: [],
    });
  });

  it('takes the slots from the environment where the file does not set them', () => {
    const given = testEnvironment({ MUSTER_SLOTS: '3' });
    const slotsOf = (text: string) => readAgentConfig(text, given, given.slots).value?.slots;

    expect(loadAgentConfig(given, undefined, () => false).config.slots).toBe(3);
    expect(slotsOf('daemon_config: {max_sessions: 0}')).toBe(3);
    expect(slotsOf('daemon_config: {max_sessions: 2}')).toBe(2);
  });

  it.each(['0', '-1', '1.5', 'three', '1000000000000'])('refuses %s as slots of the environment', (slots) => {
    const given = testEnvironment({ MUSTER_SLOTS: slots });

    expect(() => loadAgentConfig(given, undefined, () => false)).toThrow(/MUSTER_SLOTS/);
  });

  it('trusts the authority in the file that MUSTER_CA names, where its own file has none', (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-agent-file-'));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const ca = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
    const given = testEnvironment({ MUSTER_CA: write('ca.pem', ca('b3Ro')) });
    const trusted = (named: string): string | undefined => loadAgentConfig(given, named).config.broker.ca;
    const wrong = testEnvironment({ MUSTER_CA: write('key.pem', 'no certificate') });

    expect(trusted(write('a.yaml', 'pool: a'))).toBe(ca('b3Ro'));
    expect(trusted(write('b.yaml', `broker: ${JSON.stringify({ ca: ca('b3du') })}`))).toBe(ca('b3du'));
    expect(() => loadAgentConfig(wrong, undefined, () => false)).toThrow(/key\.pem, which MUSTER_CA names/);
    expect(() => loadAgentConfig(testEnvironment({ MUSTER_CA: '/none' }), undefined, () => false)).toThrow('/none');
  });

  it('reads the text in MUSTER_AGENT_CONFIG before any file but a named one', (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-agent-file-'));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const named = join(folder, 'agent.yaml');
    writeFileSync(named, 'pool: of-the-file');
    const given = testEnvironment({ MUSTER_AGENT_CONFIG: 'pool: of-the-text' });
    const wrong = testEnvironment({ MUSTER_AGENT_CONFIG: 'pol: gpu' });

    expect(loadAgentConfig(given, undefined, () => true).config.pool).toBe('of-the-text');
    expect(loadAgentConfig(given, named).config.pool).toBe('of-the-file');
    expect(() => loadAgentConfig(wrong)).toThrow(/MUSTER_AGENT_CONFIG/);
  });

  it('does not look further when the variable names a file that is missing', () => {
    const named = testEnvironment({ VELDA_SYSTEM_CONFIG: '/none.yaml' });

    expect(() => loadAgentConfig(named, undefined, (path) => path === '/etc/velda/agent.yaml')).toThrow(
      expect.objectContaining({ kind: 'missing', at: '/none.yaml' }),
    );
  });
});

describe('several addresses', () => {
  const brokerOf = (text: string) => readAgentConfig(`broker: ${text}`, environment).value?.broker;

  it('are tried in their order, each once', () => {
    expect(brokerOf('{address: "a:1", addresses: ["b:1", "a:1"], public_address: "c:1"}')).toEqual({
      address: 'a:1',
      otherAddresses: ['b:1', 'c:1'],
    });
    expect(brokerOf('{addresses: ["a:1"], public_address: ["b:1", "c:1"]}')).toEqual({
      address: 'a:1',
      otherAddresses: ['b:1', 'c:1'],
    });
    expect(brokerOf('{}')).toEqual({});
  });

  it('may stand in the environment', () => {
    expect(brokerIn('https://a:1, b:1')).toEqual({ address: 'https://a:1', otherAddresses: ['b:1'] });
    expect(brokerIn('')).toEqual({});
  });

  it('are written under a key that agents of the previous version accept', () => {
    const broker = { address: 'a:1', otherAddresses: ['b:1'] };

    expect(writeAgentConfig({ ...EMPTY, broker })).toContain('broker:\n  address: a:1\n  publicAddress: b:1\n');
    expect(writeAgentConfig({ ...EMPTY, broker: { ...broker, otherAddresses: ['b:1', 'c:1'] } })).toContain(
      'publicAddress:\n    - b:1\n    - c:1\n',
    );
  });
});

describe('writeAgentConfig', () => {
  it('writes lowerCamelCase keys and nothing that is absent', () => {
    expect(
      writeAgentConfig({ ...EMPTY, broker: { address: '10.0.0.1:50051' }, pool: 'gpu', slots: 2, leaseMs: 90_500 }),
    ).toBe(
      'broker:\n  address: 10.0.0.1:50051\npool: gpu\nlease: 90.5s\ndaemonConfig:\n  maxSessions: 2\n  workDirPath: /tmp/agent\n',
    );
  });

  it('writes the same bytes for the same configuration, and they read back', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((s) => /^[\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]*$/.test(s) && !s.startsWith('file:'));
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const configs = fc.record({
      broker: fc.oneof(
        fc.record({ address: maybe(text), ca: maybe(text) }),
        fc.record({
          address: text.map((one) => `a${one}`),
          otherAddresses: fc.uniqueArray(
            text.map((one) => `b${one}`),
            { minLength: 1 },
          ),
          ca: maybe(text),
        }),
      ),
      pool: maybe(text),
      name: maybe(text),
      slots: fc.integer({ min: 1, max: 64 }),
      workDir: text,
      joinToken: maybe(fc.oneof(text, fc.constant('a${TOKEN}$${b'))),
      labels: fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        text,
        { noNullPrototype: true },
      ),
      leaseMs: maybe(fc.integer({ min: 1_000, max: 1e9 })),
      mtls: maybe(fc.record({ cert: text, key: text })),
    });

    fc.assert(
      fc.property(configs, (config) => {
        const shuffled = { ...config, labels: Object.fromEntries(Object.entries(config.labels).toReversed()) };

        const written = writeAgentConfig(config);

        expect(readAgentConfig(written, environment)).toEqual({ value: config, warnings: [] });
        expect(writeAgentConfig(shuffled)).toBe(written);
      }),
      { numRuns: 300 },
    );
  });
});

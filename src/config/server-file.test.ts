// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import { describe, expect, it } from 'vitest';
import { readPool } from './pool-document.ts';
import { describeProblem, type Parsed } from './problem.ts';
import { defaultServerFile } from './server-default.ts';
import { readServerFile, readServerNode, type ServerConfig, staticDocuments } from './server-file.ts';
import { standInKinds, testEnvironment } from './testing.ts';

const environment = testEnvironment(
  { PASSWORD: 'pg-pass', REGION: 'eu-west-1' },
  { '/run/dsn': 'postgres://u:p@db/m' },
);
const options = { kinds: standInKinds, environment };
const read = (text: string): Parsed<ServerConfig> => readServerFile(text, options);
const problemTexts = (parsed: Parsed<ServerConfig>): readonly string[] | undefined =>
  parsed.problems?.map((problem) => describeProblem(problem));

describe('readServerFile', () => {
  it.each(['', '\n', '# nothing yet\n', '---\n', 'null'])('refuses a file with nothing in it: %j', (text) => {
    expect(read(text).problems).toMatchObject([{ message: 'the file is empty; write {} to mean the defaults' }]);
  });

  it('has a default for everything', () => {
    expect(read('{}').value).toEqual({
      grpc: { host: '127.0.0.1', port: 50_051 },
      http: { host: '127.0.0.1', port: 8081 },
      limits: {
        unauthenticatedConnections: 256,
        requestsPerToken: 1_000,
        streamsPerConnection: 1_000,
        trustedProxies: [],
      },
      dataDir: './data',
      files: { sessionFiles: 50_000, sessionBytes: 1_000_000_000, totalBytes: 10_000_000_000 },
      store: { kind: 'sqlite', directory: './data' },
      pools: [],
      sources: [],
      clusters: {},
      allowNewPool: false,
      broker: { addresses: [], publicAddress: [] },
      tls: {},
      access: { allowedHosts: [] },
      agent: { leaseMs: 3_600_000, reconnectGraceMs: 120_000, runtimes: {} },
      retention: {
        events: 2_592_000_000,
        decisions: 1_209_600_000,
        endedMachines: 7_776_000_000,
        ended: 2_592_000_000,
        endedComputers: 2_592_000_000,
        imageBuilds: 7_776_000_000,
        imageLogs: 2_592_000_000,
        output: 604_800_000,
        series: 2_592_000_000,
      },
      log: { level: 'info', format: 'auto' },
      requestRates: {},
      plugins: [],
      sections: {},
    });
  });

  it('takes the data directory from the environment where the file has none', () => {
    const withDirectory = testEnvironment({ MUSTER_DATA_DIR: '/var/lib/muster' });

    expect(readServerFile('{}', { kinds: standInKinds, environment: withDirectory }).value).toMatchObject({
      dataDir: '/var/lib/muster',
      store: { directory: '/var/lib/muster' },
    });
    expect(readServerFile('data_dir: /srv', { kinds: standInKinds, environment: withDirectory }).value?.dataDir).toBe(
      '/srv',
    );
  });

  it.each([
    ['store: /srv/db', { kind: 'sqlite', directory: '/srv/db' }],
    ['store: sqlite:/srv/db', { kind: 'sqlite', directory: '/srv/db' }],
    ['store: sqlite:///srv/db', { kind: 'sqlite', directory: '/srv/db' }],
    ['store: postgres://u:${PASSWORD}@db/muster', { kind: 'postgres', url: 'postgres://u:pg-pass@db/muster' }],
    ['store: file:/run/dsn', { kind: 'postgres', url: 'postgres://u:p@db/m' }],
  ])('reads %s', (text, store) => {
    expect(read(text).value?.store).toEqual(store);
  });

  it.each([
    [':8081', { host: undefined, port: 8081 }],
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
  ])('listens on %s', (address, listen) => {
    expect(read(`server: {http_address: "${address}"}`).value?.http).toEqual(listen);
  });

  it.each([
    [
      'server: {http_address: "8081"}',
      '1:24: server.http_address: must be host:port, like 127.0.0.1:8081, or :8081 for every interface',
    ],
    ['server: {http_address: ":99999"}', expect.stringMatching('must be host:port')],
    ['server: {htp_address: ":1"}', '1:10: server.htp_address: is not a known key; did you mean http_address?'],
    ['agent_pool: []', '1:1: agent_pool: is not a known key; did you mean agent_pools?'],
    ['store: mysql://u:secret@h/d', '1:8: store: must be a directory, or an address that begins with postgres://'],
    ['store: [a]', '1:8: store: must be text, not a list'],
    ['tls: {cert: a.pem}', '1:6: tls: needs both cert and key'],
    ['log: {level: loud}', '1:14: log.level: must be one of debug, info, warn, error'],
    ['access: {public_url: example.com}', '1:22: access.public_url: is not a valid url'],
    ['retention: {events: forever}', expect.stringMatching('is not a duration')],
    [
      'agent_pools: [{name: a}, {name: b}, {name: a}]',
      '1:44: agent_pools[2].name: is already the name of an earlier pool',
    ],
    [
      'agent_pools:\n  - name: a\n    auto_scaler:\n      max_agnets: 3',
      '4:7: agent_pools[0].auto_scaler.max_agnets: is not a known key; did you mean max_agents?',
    ],
    ['provisioners: [{awz: {}}]', '1:17: provisioners[0].awz: is not a known provisioner; did you mean aws?'],
    ['provisioners: [{}]', expect.stringMatching(/^1:16: provisioners\[0\]: name one provisioner: aws, aws_auto, /)],
    [
      'provisioners: [{aws: {config_prefix: /a}, gcs: {bucket: b, config_prefix: c}}]',
      '1:16: provisioners[0]: names aws and gcs; keep one provisioner',
    ],
    [
      'provisioners: [{aws: {config_prefix: /a}, allow: {backends: [comand]}}]',
      '1:62: provisioners[0].allow.backends[0]: is not a known backend; did you mean command?',
    ],
    [
      'provisioners: [{aws: {config_prefix: /a}}, {aws: {config_prefix: /a}}]',
      '1:44: provisioners[1].name: is required: an earlier entry reads the same place',
    ],
    ['provisioners: [{name: api, aws: {config_prefix: /a}}]', '1:23: provisioners[0].name: must not be config or api'],
    [
      'provisioners: [{aws: {config_prefix: /a}, update_interval: 5ms}]',
      '1:60: provisioners[0].update_interval: must be at least 1s',
    ],
    [
      'provisioners: [{mithril_auto: {project_id: p, region: r, api_token: "${MITHRIL}", pool_details: []}}]',
      expect.stringMatching(
        /^1:69: provisioners\[0\]\.mithril_auto\.api_token: the environment variable MITHRIL is not set/,
      ),
    ],
    ['- a', '1:1: the document must be a map of keys, not a list'],
  ])('refuses %s', (text, problem) => {
    expect(problemTexts(read(text))).toEqual([problem]);
  });

  it('never shows the secret of a refused store', () => {
    expect(problemTexts(read('store: mysql://u:secret@h/d'))?.join()).not.toMatch('secret');
  });

  it('knows sources by name, or by kind and place', () => {
    const { value } = read(`
provisioners:
  - aws: {region: us-west-2, config_prefix: /a}
    name: team
    update_interval: 5m
    allow: {backends: [aws_launch_template], max_agents: 10, name_prefix: ml-}
  - aws: {region: "\${REGION}", config_prefix: /a}
`);

    expect(value?.sources).toMatchObject([
      { id: 'team', everyMs: 300_000, allow: { backends: ['aws_launch_template'], maxAgents: 10, namePrefix: 'ml-' } },
      { id: 'aws:eu-west-1:/a', everyMs: 60_000, allow: {} },
    ]);
  });
});

describe('static pools', () => {
  const FILE = `
agent_pools:
  - name: script
    auto_scaler:
      backend:
        command: {start: 'run \${WORKER_NAME}'}
      max_agents: 2
  - name: cloud
    auto_scaler:
      backend:
        aws_launch_template: {region: "\${REGION}", tags: {Note: 'a $\${b}', V: 1.10}}
`;

  it('become documents that read the same without the environment', () => {
    const config = read(FILE).value as ServerConfig;

    const again = staticDocuments(config).map(({ text }) =>
      readPool(text, { kinds: standInKinds.backends, trust: 'operator' }),
    );

    expect(again.map(({ spec }) => spec)).toEqual(config.pools.map(({ spec }) => spec));
    expect(again[1]?.spec?.offers[0]?.config).toMatchObject({
      region: 'eu-west-1',
      tags: { Note: 'a ${b}', V: '1.10' },
    });
  });

  it('have the version of their content: other spelling and order keep it, other values change it', () => {
    const versions = (text: string): Map<string, string> =>
      new Map(staticDocuments(read(text).value as ServerConfig).map(({ key, version }) => [key, version]));

    const before = versions(FILE);
    const respelled = versions(
      FILE.replace('auto_scaler', 'autoScaler').replace('    auto_scaler:\n', '    autoScaler:\n'),
    );
    const changed = versions(FILE.replace('max_agents: 2', 'max_agents: 3'));

    expect(respelled).toEqual(before);
    expect(changed.get('script')).not.toBe(before.get('script'));
    expect(changed.get('cloud')).toBe(before.get('cloud'));
  });

  it('include the pool `local` where there is no file', () => {
    const { value } = readServerNode(defaultServerFile(8), options);

    expect(value?.pools).toMatchObject([
      {
        spec: {
          name: 'local',
          offers: [{ kind: 'process', config: {} }],
          scaling: { maxAgents: 8, minIdleSlots: 1, maxIdleSlots: 2, idleDecayMs: 30_000 },
        },
      },
    ]);
    expect(readServerNode(defaultServerFile(1), options).value?.pools[0]?.spec.scaling.maxAgents).toBe(2);
  });
});

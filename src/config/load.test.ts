// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as users write them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFile } from './check.ts';
import { readEnvironment } from './environment.ts';
import { type ConfigLoadOptions, findServerFile, loadServerConfig } from './load.ts';
import { standInKinds, testEnvironment } from './testing.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Uint8Array, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode });
  return path;
}

const options = (named: string, more: Partial<ConfigLoadOptions> = {}): ConfigLoadOptions => ({
  named,
  environment: readEnvironment({}),
  cpus: 4,
  kinds: async () => standInKinds,
  ...more,
});

describe('findServerFile', () => {
  const present =
    (...paths: readonly string[]) =>
    (path: string) =>
      paths.includes(path);
  const nothingSet = testEnvironment();
  const configSet = testEnvironment({ MUSTER_CONFIG: '/opt/m.yaml' });

  it.each([
    ['what the flag names', '/x.yaml', configSet, ['./muster.yaml'], '/x.yaml'],
    ['what the variable names', undefined, configSet, ['./muster.yaml'], '/opt/m.yaml'],
    [
      'the file here',
      undefined,
      nothingSet,
      ['/etc/velda/config.yaml', './muster.yaml', '/etc/muster/config.yaml'],
      './muster.yaml',
    ],
    [
      'our file of the machine',
      undefined,
      nothingSet,
      ['/etc/velda/config.yaml', '/etc/muster/config.yaml'],
      '/etc/muster/config.yaml',
    ],
    ['the file of Velda', undefined, nothingSet, ['/etc/velda/config.yaml'], '/etc/velda/config.yaml'],
    ['none', undefined, nothingSet, [], undefined],
  ])('takes %s first', (_, named, environment, files, found) => {
    expect(findServerFile(named, environment, present(...files))).toBe(found);
  });
});

describe('loadServerConfig', () => {
  it('reads the file and says what it depends on', async () => {
    const token = write('token', '  tok-1\n');
    const file = write(
      'muster.yaml',
      `agent_pools: [{name: a}]\nprovisioners: [{mithril_auto: {project_id: p, region: r, api_token: "file:${token}", pool_details: []}}]`,
    );

    const loaded = await loadServerConfig(options(file));

    expect(loaded).toMatchObject({ file, files: [file, token], warnings: [] });
    expect(loaded.config.sources[0]?.config).toMatchObject({ apiToken: 'tok-1' });
  });

  it('warns where everyone on the machine can read a secret', async () => {
    const token = write('token', 'tok-1', 0o644);
    const file = write('muster.yaml', `store: file:${token}`);

    const { warnings } = await loadServerConfig(options(file));

    expect(warnings).toMatchObject([{ path: 'store', line: 1, message: expect.stringMatching('chmod') }]);
  });

  it('gives the kinds of the plugins that the file names', async () => {
    const file = write('muster.yaml', 'plugins: [muster-acme, ./own.ts]');
    const asked: (readonly string[])[] = [];
    const kinds = async (plugins: readonly string[]) => {
      asked.push(plugins);
      return standInKinds;
    };

    await loadServerConfig(options(file, { kinds }));

    expect(asked).toEqual([['muster-acme', './own.ts']]);
  });

  it('names the file, line and path of every problem', async () => {
    const file = write('muster.yaml', 'agent_pools:\n  - name: a\n    auto_scaler: {max_agents: -1}\nbogus: 1\n');

    const loading = loadServerConfig(options(file));

    await expect(loading).rejects.toMatchObject({
      kind: 'invalid',
      at: `${file}:3:31 agent_pools[0].auto_scaler.max_agents`,
      message: expect.stringContaining(`${file}:4:1: bogus: is not a known key`),
    });
  });

  it.each([
    ['a file that is not there', () => join(folder, 'none.yaml'), 'missing', 'it does not exist'],
    ['a folder', () => folder, 'invalid', 'it is a directory'],
    ['bytes', () => write('b.yaml', Uint8Array.of(0xff, 0xfe, 0x00, 0x80)), 'invalid', 'is not UTF-8 text'],
    ['a broken file', () => write('c.yaml', 'a: ['), 'invalid', 'not YAML'],
  ])('refuses %s', async (_, path, kind, message) => {
    await expect(loadServerConfig(options(path()))).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(message),
    });
  });

  it('has the same version for the same meaning', async () => {
    const one = await loadServerConfig(options(write('1.yaml', 'data_dir: /x\nallow_new_pool: true')));
    const same = await loadServerConfig(options(write('2.yaml', '{"allowNewPool": true, "dataDir": "/x"}')));
    const other = await loadServerConfig(options(write('3.yaml', 'data_dir: /y')));

    expect(same.version).toBe(one.version);
    expect(other.version).not.toBe(one.version);
  });
});

describe('checkFile', () => {
  const check = (path: string) => checkFile(path, { environment: testEnvironment(), kinds: async () => standInKinds });

  it('tells a server file from a pool document', async () => {
    expect(await check(write('s.yaml', 'agent_pools: [{name: a}]\nstorage: {}'))).toMatchObject({
      what: 'server file',
      problems: [],
      warnings: [{ path: 'storage' }],
    });
    expect(await check(write('p.json', '{"name": "a", "autoScaler": {"maxAgents": 0}}'))).toEqual({
      what: 'pool document',
      problems: [],
      warnings: [],
    });
  });

  it('tells all problems of either', async () => {
    expect((await check(write('s.yaml', 'a: 1\nb: 2'))).problems).toHaveLength(2);
    expect((await check(write('p.yaml', 'name: ..\nlabels: ${X}'))).problems).toHaveLength(2);
    expect(await check(write('q.yaml', 'a: ['))).toMatchObject({ problems: [{ line: 1 }] });
  });

  it('holds a pool document to what a source would accept of it', async () => {
    expect((await check(write('p.yaml', 'name: a\nauto_scaler: {backend: {process: {}}}'))).problems).toMatchObject([
      { path: 'auto_scaler.backend.process' },
    ]);
  });
});

import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from './find.ts';
import { openScene } from './testing.ts';

let folder: string;
let contextsFile: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-context-'));
  contextsFile = join(folder, 'muster', 'contexts.json');
  writeFileSync(join(folder, 't'), 'lab-secret\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function context(...words: string[]) {
  const { muster, output, errors } = openScene(() => ({}), { contextsFile });
  const code = await muster('context', ...words);
  return { code, said: output() + errors() };
}

const addLab = () =>
  context('add', 'lab', 'https://muster.lab:8081', '--token-file', join(folder, 't'), '--pool', 'gpu');

/** What commands then talk to. */
function found(options: { address?: string; token?: string } = {}, around: { address?: string; token?: string } = {}) {
  const { address, token, pool } = findServer(options, {
    address: around.address,
    token: around.token,
    dataDir: join(folder, 'data'),
    contextsFile,
  });
  return [address, token, pool];
}

describe('contexts', () => {
  it('the first one added is used at once; others by `use`, and the server of this machine by `use local`', async () => {
    expect(await addLab()).toEqual({ code: 0, said: 'Added context lab. It is used from now on.\n' });
    await context('add', 'home', 'http://127.0.0.1:9999');
    expect(found()).toEqual(['https://muster.lab:8081', 'lab-secret', 'gpu']);

    expect((await context('use', 'home')).said).toBe('Commands now go to http://127.0.0.1:9999.\n');
    expect(found()).toEqual(['http://127.0.0.1:9999', undefined, undefined]);

    await context('use', 'local');
    expect(found()[0]).toBe('http://127.0.0.1:8081');
  });

  it('are kept in a file that only its owner may read, and are not read from another one', async () => {
    await addLab();

    expect(statSync(contextsFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'muster')).mode & 0o777).toBe(0o700);
    chmodSync(contextsFile, 0o644);
    expect(() => found()).toThrow(`Others on this machine can read the tokens in ${contextsFile}.`);
  });

  it('never show a token', async () => {
    await addLab();

    const table = await context('ls');
    const json = await context('ls', '-o', 'json');

    expect(table.said).toMatch(/lab\s+https:\/\/muster\.lab:8081\s+gpu\s+yes/);
    expect(JSON.parse(json.said)).toMatchObject([{ name: 'local' }, { name: 'lab', has_token: true, current: true }]);
    expect(table.said + json.said).not.toContain('lab-secret');
  });

  it('are weaker than MUSTER_ADDRESS, MUSTER_TOKEN and the options', async () => {
    await addLab();

    expect(found({}, { address: 'http://env' })[0]).toBe('http://env');
    expect(found({}, { token: 'env' })).toEqual(['https://muster.lab:8081', 'env', 'gpu']);
    expect(found({ address: 'http://asked', token: 'asked' }, { address: 'http://env' })).toEqual([
      'http://asked',
      'asked',
      undefined,
    ]);
  });

  it.each(['http://muster.lab:8081', 'https://muster.lab', 'https://muster.lab:8082', 'https://muster.lab.evil:8081'])(
    'give their token to their own address alone, not to %s',
    async (address) => {
      await addLab();

      expect(found({ address })).not.toContain('lab-secret');
      expect(found({}, { address })).not.toContain('lab-secret');
      expect(found({ address: 'https://muster.lab:8081/' })).toContain('lab-secret');
    },
  );

  it('with one removed that was in use, the server of this machine is used', async () => {
    await addLab();

    expect(await context('rm', 'lab')).toEqual({ code: 0, said: 'Removed context lab.\n' });
    expect(found()).toEqual(['http://127.0.0.1:8081', undefined, undefined]);
  });

  it.each([
    [['add', 'lab', 'http://x'], 'There is a context lab already, for https://muster.lab:8081.'],
    [['add', 'local', 'http://x'], 'There is a context local already, for the server of this machine.'],
    [['add', 'a b', 'http://x'], 'a b cannot name a context.'],
    [['add', 'b', 'ftp://x'], 'ftp://x (the URL of the context) is not a valid server address.'],
    [['add', 'b', 'http://x', '--token-file', '/nowhere/t'], '--token-file /nowhere/t cannot be read'],
    [['use', 'lba'], 'There is no context lba.\n  Did you mean lab?'],
    [['rm', 'elephant'], 'There is no context elephant.\n  List contexts'],
    [['ues', 'lab'], 'Did you mean use?'],
  ])('refuse %j with the reason', async (words, said) => {
    await addLab();

    const answer = await context(...words);

    expect(answer.code).not.toBe(0);
    expect(answer.said).toContain(said);
    expect((await context('ls')).said).toContain('lab');
  });

  it('say that their file is damaged, and what to do', async () => {
    await addLab();
    writeFileSync(contextsFile, '{"contexts": 3}');

    expect(() => found()).toThrow(`${contextsFile} is damaged.`);
  });
});

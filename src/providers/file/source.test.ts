import { chmod, mkdir, mkdtemp, rename, rm, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Document } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { FileConfig, placeOf } from './config.ts';
import { type Known, readFileDocument } from './read-file.ts';
import { openFileSource } from './source.ts';
import type { WatchFolder } from './watch-tree.ts';

const made: string[] = [];
afterEach(async () => {
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
});

async function makeFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'muster-file-'));
  made.push(root);
  for (const [key, text] of Object.entries(files)) await write(root, key, text);
  return root;
}

async function write(root: string, key: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(root, key)), { recursive: true });
  await writeFile(join(root, key), text);
}

const open = (path: string, over: Partial<FileConfig> = {}, watch?: WatchFolder) =>
  openFileSource({ ...FileConfig.parse({ path }), ...over }, { clock: systemClock }, watch);
const listed = async (path: string, over: Partial<FileConfig> = {}): Promise<readonly Document[]> =>
  (await open(path, over)).documents(new Map(), going());
const keysOf = (documents: readonly Document[]): string[] => documents.map(({ key }) => key);
const heldOf = (documents: readonly Document[]) => new Map(documents.map(({ key, version }) => [key, version]));

describe('what counts as a document', () => {
  it('is every YAML and JSON file at any depth, by its path below the directory', async () => {
    const root = await makeFolder({
      'b.yml': 'b',
      'a.yaml': 'a',
      'team/deep/c.json': 'c',
      'notes.txt': 'x',
      LICENSE: 'x',
    });

    const documents = await listed(root);

    expect(documents.map(({ key, text }) => [key, text])).toEqual([
      ['a.yaml', 'a'],
      ['b.yml', 'b'],
      ['team/deep/c.json', 'c'],
    ]);
  });

  it('is nothing hidden, and nothing that editors leave behind', async () => {
    const root = await makeFolder({
      'a.yaml': 'a',
      '.hidden.yaml': 'x',
      '.git/config.yaml': 'x',
      '.a.yaml.swp': 'x',
      'a.yaml~': 'x',
      '#a.yaml#': 'x',
      '.#a.yaml': 'x',
      '~a.yaml': 'x',
    });

    expect(keysOf(await listed(root))).toEqual(['a.yaml']);
  });

  it('may be one file alone', async () => {
    const root = await makeFolder({ 'pool.yaml': 'text', 'other.yaml': 'x' });

    expect(await listed(join(root, 'pool.yaml'))).toMatchObject([{ key: 'pool.yaml', text: 'text' }]);
  });

  it('is seen through links, also as Kubernetes mounts a ConfigMap', async () => {
    const root = await makeFolder({ '..2026_01_01/pool.yaml': 'one' });
    await symlink('..2026_01_01', join(root, '..data'));
    await symlink('..data/pool.yaml', join(root, 'pool.yaml'));
    const source = await open(root);
    const before = await source.documents(new Map(), going());

    await write(root, '..2026_01_02/pool.yaml', 'two');
    await symlink('..2026_01_02', join(root, '..data_tmp'));
    await rename(join(root, '..data_tmp'), join(root, '..data'));
    const after = await source.documents(heldOf(before), going());

    expect(before).toMatchObject([{ key: 'pool.yaml', text: 'one' }]);
    expect(after).toMatchObject([{ key: 'pool.yaml', text: 'two' }]);
  });

  it('is listed once where folders are linked in circles, under its own path', async () => {
    const root = await makeFolder({ 'team/a.yaml': 'a' });
    await symlink('team', join(root, 'alias'));
    await symlink('..', join(root, 'team/up'));

    expect(keysOf(await listed(root))).toEqual(['team/a.yaml']);
  });

  it('may lie outside only where the operator trusts the directory', async () => {
    const outside = await makeFolder({ 'a.yaml': 'a', 'secret.yaml': 'planted' });
    const root = await makeFolder({ 'own.yaml': 'own' });
    await symlink(outside, join(root, 'team'));
    await symlink(join(outside, 'secret.yaml'), join(root, 'link.yaml'));

    const foreign = await listed(root);
    const trusted = await listed(root, { trusted: true });

    expect(keysOf(foreign)).toEqual(['link.yaml', 'own.yaml', 'team']);
    expect(foreign.filter(({ fault }) => fault?.kind === 'denied')).toHaveLength(2);
    expect(JSON.stringify(foreign)).not.toContain('planted');
    expect(keysOf(trusted)).toEqual(['link.yaml', 'own.yaml', 'team/a.yaml', 'team/secret.yaml']);
  });
});

describe('versions', () => {
  it('follow the content: touching a file changes nothing, and writing it does', async () => {
    const root = await makeFolder({ 'a.yaml': 'one', 'b.yaml': 'b' });
    const source = await open(root);
    const first = await source.documents(new Map(), going());

    await utimes(join(root, 'a.yaml'), new Date(0), new Date(0));
    const touched = await source.documents(heldOf(first), going());
    await write(root, 'a.yaml', 'two');
    const written = await source.documents(heldOf(first), going());

    expect(touched.map(({ text }) => text)).toEqual([undefined, undefined]);
    expect(heldOf(touched)).toEqual(heldOf(first));
    expect(written.map(({ text }) => text)).toEqual(['two', undefined]);
  });

  it('are trusted without reading only when a later write would look different', async () => {
    const root = await makeFolder({ 'a.yaml': 'aaa' });
    const file = { key: 'a.yaml', path: join(root, 'a.yaml') };
    const writtenMs = systemClock.now();
    const read = (nowMs: number, known?: Known) => readFileDocument(file, { held: 'v0', known, nowMs });

    const young = (await read(writtenMs + 1_000))?.known as Known;
    const old = (await read(writtenMs + 60_000))?.known as Known;
    const afterYoung = await read(writtenMs + 1_000, { ...young, version: 'v0' });
    const afterOld = await read(writtenMs + 60_000, { ...old, version: 'v0' });

    expect(afterYoung?.document.text).toBe('aaa');
    expect(afterOld?.document).toEqual({ key: 'a.yaml', version: 'v0' });
  });
});

describe('a file that cannot be read', () => {
  it.each([
    ['a link to nothing', 'missing', (path: string) => symlink('nowhere', path)],
    ['too large', 'invalid', (path: string) => writeFile(path, 'x'.repeat(1024 * 1024 + 1))],
    ['not text', 'invalid', (path: string) => writeFile(path, Uint8Array.of(0xc3, 0x28))],
    ['a link to itself', 'invalid', (path: string) => symlink('bad.yaml', path)],
  ] as const)('is a document with a fault, and the others are read: %s', async (_what, kind, spoil) => {
    const root = await makeFolder({ 'good.yaml': 'good' });
    await spoil(join(root, 'bad.yaml'));

    const [bad, good] = await listed(root);

    expect(bad).toMatchObject({ key: 'bad.yaml', fault: { kind } });
    expect(bad?.fault?.message).toContain(join(root, 'bad.yaml'));
    expect(good).toMatchObject({ key: 'good.yaml', text: 'good' });
  });

  it('comes back under its version when it is readable again', async () => {
    const root = await makeFolder({ 'a.yaml': 'a' });
    const source = await open(root);
    const held = heldOf(await source.documents(new Map(), going()));
    await unlink(join(root, 'a.yaml'));
    await symlink('nowhere', join(root, 'a.yaml'));
    expect(await source.documents(held, going())).toMatchObject([{ fault: { kind: 'missing' } }]);

    await unlink(join(root, 'a.yaml'));
    await write(root, 'a.yaml', 'a');

    expect(await source.documents(held, going())).toEqual([{ key: 'a.yaml', version: held.get('a.yaml') }]);
  });
});

describe('the whole listing', () => {
  it('throws where the directory does not exist, and works again when it does', async () => {
    const root = await makeFolder();
    const source = await open(join(root, 'pools'));
    await expect(source.documents(new Map(), going())).rejects.toMatchObject({ kind: 'missing' });

    await write(root, 'pools/a.yaml', 'a');

    expect(keysOf(await source.documents(new Map(), going()))).toEqual(['a.yaml']);
  });

  it.skipIf(process.getuid?.() === 0)(
    'throws where a folder may not be read, and not where a file may not (needs another user than root)',
    async () => {
      const root = await makeFolder({ 'a.yaml': 'a', 'team/b.yaml': 'b' });
      await chmod(join(root, 'a.yaml'), 0o000);
      expect(await listed(root)).toMatchObject([{ fault: { kind: 'denied' } }, { text: 'b' }]);

      await chmod(join(root, 'team'), 0o000);

      await expect(listed(root)).rejects.toMatchObject({ kind: 'denied' });
      await chmod(join(root, 'team'), 0o700);
    },
  );

  it('stops when its caller aborts', async () => {
    const root = await makeFolder({ 'a.yaml': 'a' });
    const source = await open(root);

    await expect(source.documents(new Map(), AbortSignal.abort())).rejects.toThrow(Fault);
  });
});

describe('watching', () => {
  function fakeWatch() {
    const watch = { changed: (_name: string): void => {}, broken: () => {}, starts: 0, ends: 0, isPossible: true };
    const watchFolder: WatchFolder = (_path, told) => {
      if (!watch.isPossible) throw new Error('not there');
      watch.starts += 1;
      Object.assign(watch, { changed: told.changed, broken: told.broken });
      return () => {
        watch.ends += 1;
      };
    };
    return { watch, watchFolder };
  }

  async function start(isPossible = true) {
    const { watch, watchFolder } = fakeWatch();
    watch.isPossible = isPossible;
    const clock = new VirtualClock();
    const source = await openFileSource(FileConfig.parse({ path: '/pools' }), { clock }, watchFolder);
    const end = new AbortController();
    let hints = 0;
    source.watch?.(() => void hints++, end.signal);
    return { watch, clock, end, hints: () => hints };
  }

  it('hints once at a burst of events, and not at the scratch files of editors', async () => {
    const { watch, clock, hints } = await start();

    for (const name of ['.a.yaml.swp', 'team/.b.yaml.swx', 'a.yaml~', '4913.tmp']) watch.changed(name);
    await clock.advance(1_000);
    expect(hints()).toBe(0);
    for (const name of ['a.yaml', 'a.yaml', 'b.yaml', '..data']) watch.changed(name);
    await clock.advance(1_000);

    expect(hints()).toBe(1);
  });

  it('starts again when the watch breaks, and hints, since something may have been missed', async () => {
    const { watch, clock, hints } = await start();

    watch.broken();
    await clock.advance(60_000);

    expect([watch.starts, watch.ends, hints()]).toEqual([2, 1, 1]);
  });

  it('waits for a directory that does not exist yet', async () => {
    const { watch, clock, hints } = await start(false);
    await clock.advance(60_000);
    expect([watch.starts, hints()]).toEqual([0, 0]);

    watch.isPossible = true;
    await clock.advance(60_000);

    expect([watch.starts, hints()]).toEqual([1, 1]);
  });

  it('ends with its signal: no hint, no watch and no alarm is left', async () => {
    const { watch, clock, end, hints } = await start();

    watch.changed('a.yaml');
    end.abort();
    await clock.advance(60_000);

    expect([watch.ends, hints(), clock.nextAlarmMs()]).toEqual([1, 0, undefined]);
  });

  it('ends also while it waits for the directory', async () => {
    const { clock, end } = await start(false);

    end.abort();

    expect(clock.nextAlarmMs()).toBeUndefined();
  });
});

describe('the configuration', () => {
  it('names one place, by either key', () => {
    expect(placeOf(FileConfig.parse({ directory: '/etc/muster/pools/' }))).toBe('/etc/muster/pools');
    expect(FileConfig.parse({ path: '/x' })).toEqual({ path: '/x', updateInterval: 10_000, trusted: false });
    expect(FileConfig.safeParse({}).success).toBe(false);
    expect(FileConfig.safeParse({ path: '/x', directory: '/y' }).success).toBe(false);
  });
});

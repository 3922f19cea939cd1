// A process that is killed at any step of an upload: what the next one finds is the whole file or none.
import { createHook } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openHeld, scratchFolder } from '#store/testing/databases.ts';
import { sharedPostgres } from '#store/testing/postgres.ts';
import { startProxy } from '#store/testing/proxy.ts';
import { type Disk, emptyDisk } from '../store/memory.ts';
import type { FileContents } from './contents.ts';
import { openContents } from './open-contents.ts';
import { filesWorld, hashesIn } from './testing.ts';

// Three pieces in PostgreSQL, and many writes on disk.
const BYTES = randomBytes(600_001);
const HASH = createHash('sha256').update(BYTES).digest('hex');

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < BYTES.length; at += 100_000) yield BYTES.subarray(at, at + 100_000);
}

function scratch(): string {
  const folder = scratchFolder();
  onTestFinished(folder.remove);
  return folder.path;
}

/** What a session would see of the file. */
async function seenIn(contents: FileContents): Promise<'nothing' | 'the file' | 'half a file'> {
  const read: Uint8Array[] = [];
  try {
    for await (const piece of contents.read(HASH)) read.push(piece);
  } catch {
    return read.length === 0 ? 'nothing' : 'half a file';
  }
  return Buffer.concat(read).equals(BYTES) ? 'the file' : 'half a file';
}

/** Calls `look` after every call of the file system that ends while `work` goes on, as if the process were killed there. */
async function afterEachCall(work: () => Promise<void>, look: () => void): Promise<void> {
  const calls = new Set<number>();
  const hook = createHook({
    init: (id, type) => void (type === 'FSREQPROMISE' && calls.add(id)),
    before: (id) => void (calls.has(id) && look()),
  });
  hook.enable();
  await work().finally(() => hook.disable());
}

/** The next process finds the file or has it uploaded again, and nothing else is left. */
async function checkNext(disk: Disk, dataDir: string, contents: FileContents, isAcknowledged: boolean): Promise<void> {
  const seen = await seenIn(contents);
  const { files } = await filesWorld({ disk, contents });
  const isMissing = files.missing([HASH], 't1').length === 1;

  expect(seen).not.toBe('half a file');
  if (isAcknowledged) expect(isMissing).toBe(false);
  expect(await seenIn(contents)).toBe(isMissing ? 'nothing' : 'the file');
  expect(await hashesIn(contents)).toEqual(isMissing ? [] : [HASH]);
  expect(readdirSync(join(dataDir, 'files', 'incoming'))).toEqual([]);
  await files.put(HASH, pieces(), 't1');
  expect(await seenIn(contents)).toBe('the file');
}

test('on disk no half file is seen after a kill at any call of the file system', async () => {
  const [dataDir, copies] = [scratch(), scratch()];
  const store = { kind: 'sqlite' } as const;
  const disk = emptyDisk();
  const kills: { readonly folder: string; readonly disk: Disk; readonly isAcknowledged: boolean }[] = [];
  const { files } = await filesWorld({ disk, contents: await openContents({ dataDir, store, epoch: 1 }) });
  function kill(isAcknowledged: boolean): void {
    const folder = join(copies, String(kills.length));
    cpSync(dataDir, folder, { recursive: true });
    kills.push({ folder, disk: structuredClone(disk), isAcknowledged });
  }

  await afterEachCall(
    () => files.put(HASH, pieces(), 't1'),
    () => kill(false),
  );
  kill(true);

  // The draft, seven writes, two syncs, a folder, the name.
  expect(kills.length).toBeGreaterThan(11);
  for (const { folder, disk, isAcknowledged } of kills) {
    await checkNext(disk, folder, await openContents({ dataDir: folder, store, epoch: 2 }), isAcknowledged);
  }
});

test('in PostgreSQL no half file is seen after a kill at any packet to the database, nor where its last answer is lost', async () => {
  const postgres = await sharedPostgres();
  const proxy = await startProxy(postgres.port);
  onTestFinished(() => proxy.close());
  const url = await postgres.database();
  const held = await openHeld(url);
  const through = new URL(url);
  through.port = String(proxy.port);
  const place = { dataDir: scratch(), epoch: held.epoch };

  /** Whether the upload was acknowledged nevertheless. */
  async function killedBy(cut: () => void): Promise<boolean> {
    const disk = emptyDisk();
    const dying = await openContents({ ...place, store: { kind: 'postgres', url: through.href } });
    const { files } = await filesWorld({ disk, contents: dying });
    cut();
    const put = files.put(HASH, pieces(), 't1');
    const isAcknowledged = await put.then(
      () => true,
      () => false,
    );
    proxy.cut();
    proxy.cutAt(Number.POSITIVE_INFINITY);
    const next = await openContents({ ...place, store: { kind: 'postgres', url } });
    await checkNext(disk, place.dataDir, next, isAcknowledged);
    await next.drop(HASH);
    await Promise.all([next.close(), dying.close()]);
    return isAcknowledged;
  }

  let packets = 0;
  while (!(await killedBy(() => proxy.cutAt(packets)))) packets += 1;
  const isAcknowledged = await killedBy(() => proxy.loseAnswerTo('COMMIT'));
  await held.close();

  // BEGIN, three pieces in several packets each, COMMIT.
  expect(packets).toBeGreaterThan(8);
  expect(isAcknowledged).toBe(false);
});

import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { LARGEST_ARCHIVED_BYTES, takeArchive } from './file-archive.ts';

const sha = (text: string): string => hash('sha256', text, 'hex');

function entry(path: string, text: string, type: 'File' | 'SymbolicLink' = 'File'): Buffer {
  const header = Buffer.alloc(512);
  const link = type === 'SymbolicLink' ? { linkpath: '/etc/passwd' } : {};
  new Header({ path, size: text.length, type, mode: 0o600, mtime: new Date(0), ...link }).encode(header);
  return Buffer.concat([header, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)]);
}

const archiveOf = (...entries: readonly Buffer[]): Buffer => Buffer.concat([...entries, Buffer.alloc(1024)]);

/** Takes an archive that comes in pieces of that size; answers the texts by their names. */
async function taken(bytes: Buffer, pieceBytes = 1_000, refuse?: string): Promise<ReadonlyMap<string, string>> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, n) =>
    bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
  );
  const texts = new Map<string, string>();
  let [atOnce, mostAtOnce] = [0, 0];
  await takeArchive(Readable.from(pieces), async (name, content) => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await new Promise(setImmediate);
    if (name === refuse) throw new Fault('invalid', 'These bytes are refused.');
    texts.set(name, (await Readable.from(content).toArray()).join(''));
    atOnce -= 1;
  });
  expect(mostAtOnce).toBeLessThanOrEqual(17);
  return texts;
}

describe('an archive of files', () => {
  it('is taken whole: also the last, the empty and the largest file, in pieces of any size', async () => {
    const texts = ['', 'x'.repeat(LARGEST_ARCHIVED_BYTES), ...Array.from({ length: 100 }, (_, n) => `text ${n}`)];
    const archive = archiveOf(...texts.map((text) => entry(sha(text), text)));

    for (const pieceBytes of [512, 1_000, 10_000_000]) {
      const found = await taken(archive, pieceBytes);
      expect([...found.keys()].toSorted()).toEqual(texts.map(sha).toSorted());
      for (const [name, text] of found) expect(sha(text)).toBe(name);
    }
  });

  it('is refused with the first file that is refused', async () => {
    const archive = archiveOf(...['a', 'b', 'c'].map((text) => entry(sha(text), text)));

    await expect(taken(archive, 100, sha('b'))).rejects.toThrow('These bytes are refused.');
  });

  it('is refused where an entry is no file, is not named by a hash, or is too large', async () => {
    const large = 'x'.repeat(LARGEST_ARCHIVED_BYTES + 1);
    for (const [one, why] of [
      [entry('../etc/passwd', 'x'), 'not a file that is named by its hash'],
      [entry(sha('x'), '', 'SymbolicLink'), 'not a file that is named by its hash'],
      [entry(sha(large), large), `more than ${LARGEST_ARCHIVED_BYTES} bytes`],
    ] as const)
      await expect(taken(archiveOf(one, entry(sha('y'), 'y')))).rejects.toThrow(why);
  });

  it('is refused where it has too many files or bytes, compressed ones too', async () => {
    const many = archiveOf(...Array.from({ length: 10_001 }, () => entry(sha(''), '')));
    const text = 'x'.repeat(LARGEST_ARCHIVED_BYTES);
    const one = entry(sha(text), text);
    const large = gzipSync(archiveOf(...Array.from({ length: 65 }, () => one)));

    for (const archive of [many, large])
      await expect(taken(archive, 1_000_000)).rejects.toThrow('more than 10000 files or 67108864 bytes');
  });

  it('is refused where it is damaged or cut off', async () => {
    const archive = archiveOf(entry(sha('a'), 'a'.repeat(5_000)));
    const damaged = Buffer.from(archive);
    damaged[0] = 0xff;

    for (const bytes of [damaged, archive.subarray(0, 2_000), archive.subarray(0, 100), Buffer.from('no archive')])
      await expect(taken(bytes)).rejects.toMatchObject({ kind: 'invalid' });
  });
});

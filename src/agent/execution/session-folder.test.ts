import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, sleepOn, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { contentHashes, type ManifestEntry, manifestLine, openManifest } from '#core/file-manifest.ts';
import type { ContentPiece, FetchContents } from './session-contents.ts';
import { openSessionFolders, removeTree } from './session-folder.ts';
import { aSpec, newWorkDir } from './testing.ts';

let workDir: string;
beforeEach(() => {
  workDir = newWorkDir();
});
afterEach(() => removeTree(workDir));

const sha = (bytes: string): string => createHash('sha256').update(bytes).digest('hex');
const file = (path: string, text: string, mode = 0o644): ManifestEntry => ({
  path,
  hash: sha(text),
  bytes: text.length,
  mode,
});

/** Serves a manifest and contents; `cut` may throw before any piece. */
function aServer(
  entries: readonly ManifestEntry[],
  {
    texts,
    cut = () => {},
    waits = false,
  }: { texts: readonly string[]; cut?: (numbers: readonly number[], piece: number) => void; waits?: boolean },
) {
  const text = entries.map(manifestLine).join('');
  const reader = openManifest({ count: 100, bytes: 1_000_000 });
  for (const entry of entries) reader.add(JSON.stringify(entry));
  const order = [...contentHashes(reader.end())];
  const asked: (readonly number[])[] = [];
  const fetchContents: FetchContents = async function* (_session, _attempt, numbers) {
    asked.push(numbers);
    const wanted = numbers.length === 0 ? [text] : numbers.map((n) => texts.find((one) => sha(one) === order[n]) ?? '');
    let piece = 0;
    for (const content of wanted) {
      const pieces: ContentPiece[] = [];
      for (let at = 0; at < content.length; at += 3)
        pieces.push({ data: Buffer.from(content.slice(at, at + 3)), isLast: at + 3 >= content.length });
      for (const one of pieces.length > 0 ? pieces : [{ data: Buffer.alloc(0), isLast: true }]) {
        cut(numbers, piece++);
        yield one;
      }
    }
  };
  const spec = aSpec(['true'], { files: { manifest: sha(text), count: 1, bytes: 1 } });
  const record = { session: 's1', attempt: 1, spec, acceptedAt: 0, boot: 'b', launch: 1 };
  // Pauses take no time, unless the session is to be stopped in one.
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => (waits ? sleepOn(systemClock, ms, signal) : Promise.resolve()),
  };
  const folders = openSessionFolders({ workDir, fetchContents, clock });
  const stopped = new AbortController();
  return { asked, folders, stopped, make: () => folders.make(record, 's1.1', { signal: stopped.signal }) };
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o7777;

describe('the folder of a session', () => {
  it('has the bytes, modes and links of the manifest, and is closed to others', async () => {
    const entries: ManifestEntry[] = [
      { path: 'closed', folder: true, mode: 0o555 },
      file('closed/deep', 'deep', 0o400),
      file('copy', 'same', 0o600),
      { path: 'empty', folder: true, mode: 0o750 },
      { path: 'link', link: 'closed/deep' },
      file('nothing', ''),
      file('run.sh', 'same', 0o755),
    ];
    const { make, asked } = aServer(entries, { texts: ['deep', 'same', ''] });

    const path = await make();

    expect(modeOf(path)).toBe(0o700);
    expect(readFileSync(join(path, 'closed/deep'), 'utf8')).toBe('deep');
    expect(readFileSync(join(path, 'copy'), 'utf8')).toBe('same');
    expect(readFileSync(join(path, 'run.sh'), 'utf8')).toBe('same');
    expect(readFileSync(join(path, 'nothing'), 'utf8')).toBe('');
    expect(readlinkSync(join(path, 'link'))).toBe('closed/deep');
    const modes = ['closed', 'closed/deep', 'copy', 'empty', 'run.sh'].map((name) => modeOf(join(path, name)));
    expect(modes).toEqual([0o555, 0o400, 0o600, 0o750, 0o755]);
    // Each content comes once.
    expect(asked).toEqual([[], [0, 1, 2]]);
  });

  it('goes on with what is missing after the connection was cut, in the middle of a file too', async () => {
    const texts = ['first file', 'second file', 'third file'];
    const entries = texts.map((text, n) => file(`f${n}`, text));
    let cuts = 0;
    const { make, asked } = aServer(entries, {
      texts,
      cut(numbers, piece) {
        if (numbers.length > 0 && piece === 5 && cuts++ < 1) throw new Fault('unavailable', 'cut');
      },
    });

    const path = await make();

    expect(texts.map((_, n) => readFileSync(join(path, `f${n}`), 'utf8'))).toEqual(texts);
    expect(asked).toEqual([[], [0, 1, 2], [1, 2]]);
  });

  it('whose files do not arrive as they were uploaded is refused by the name of the file', async () => {
    const { make } = aServer([file('a', 'right')], { texts: [] });

    await expect(make()).rejects.toThrow('a did not arrive as it was uploaded');
  });

  it('is not waited for once the session is stopped', async () => {
    const asked = Promise.withResolvers<void>();
    const { make, stopped } = aServer([file('a', 'x')], {
      texts: ['x'],
      waits: true,
      cut() {
        asked.resolve();
        throw new Fault('unavailable', 'away');
      },
    });
    const made = make();
    await asked.promise;

    stopped.abort();

    await made;
    expect(existsSync(join(workDir, 'files/s1.1/a'))).toBe(false);
  });

  it('is new: what stood there before is gone, and a link there is not followed', async () => {
    const outside = join(workDir, 'outside');
    mkdirSync(outside);
    mkdirSync(join(workDir, 'files/s1.1'), { recursive: true });
    symlinkSync(outside, join(workDir, 'files/s1.1/d'));
    const { make } = aServer([{ path: 'd', folder: true, mode: 0o755 }, file('d/a', 'x')], { texts: ['x'] });

    const path = await make();

    expect(readdirSync(outside)).toEqual([]);
    expect(statSync(join(path, 'd')).isDirectory()).toBe(true);
    expect(lstatSync(join(path, 'd')).isSymbolicLink()).toBe(false);
  });

  it('is removed also where the session has closed folders of its own, and links are not followed then', async () => {
    const { folders, make } = aServer([{ path: 'd', folder: true, mode: 0o755 }, file('d/a', 'x')], { texts: ['x'] });
    const path = await make();
    writeFileSync(join(workDir, 'kept'), 'kept');
    symlinkSync('..', join(path, 'd/up'));
    chmodSync(join(path, 'd'), 0o000);

    await folders.remove('s1.1');

    expect(existsSync(path)).toBe(false);
    expect(readFileSync(join(workDir, 'kept'), 'utf8')).toBe('kept');
  });

  it('of runs that are no more is removed', async () => {
    const { folders, make } = aServer([file('a', 'x')], { texts: ['x'] });
    await make();
    mkdirSync(join(workDir, 'files/old.1'));

    await folders.removeOthers((name) => name === 's1.1');

    expect(readdirSync(join(workDir, 'files'))).toEqual(['s1.1']);
  });
});

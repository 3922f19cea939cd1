import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { list } from 'tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Asked, ended, openScene, pieces, raw, refusal } from './testing.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-sync-'));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'a'), 'one');
  writeFileSync(join(folder, 'sub/b'), 'two');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sha = (text: string): string => hash('sha256', text);

/** The names and texts of an archive. */
async function textsIn(archive: Uint8Array): Promise<readonly (readonly [string, string])[]> {
  const found: Promise<readonly [string, string]>[] = [];
  const reader = list({
    noResume: true,
    onReadEntry: (entry) => void found.push(entry.concat().then((bytes) => [entry.path, bytes.toString()])),
  });
  reader.end(Buffer.from(archive));
  return Promise.all(found);
}

/** What an upload brings: one file, or an archive. */
async function sentIn(path: string, body: unknown): Promise<readonly (readonly [string, string])[]> {
  if (path === '/files') return textsIn(body as Uint8Array);
  return [[path.slice('/files/'.length), await new Response(body as ReadableStream).text()]];
}

/** A server that has these files already, and keeps what it is sent. */
function aServer(has: readonly string[] = [], limits = { session_bytes: 1_000, session_files: 10 }) {
  const kept = new Map<string, string>();
  function keep(sent: readonly (readonly [string, string])[]): Response {
    for (const [name, text] of sent) {
      if (name !== sha(text))
        return refusal(422, { kind: 'invalid', detail: `The bytes have the SHA-256 ${sha(text)}, not ${name}.` });
      kept.set(name, text);
    }
    return new Response(null, { status: 204 });
  }
  const answer = async ({ method, path, body }: Asked): Promise<unknown> => {
    if (method === 'GET' && path === '/files') return { files: 0, bytes: 0, total_bytes: 1e9, ...limits };
    if (path === '/files/missing') {
      return { missing: (body as { hashes: string[] }).hashes.filter((one) => !has.includes(one) && !kept.has(one)) };
    }
    if (method === 'PUT' || path === '/files') return keep(await sentIn(path, body));
    if (path === '/sessions') return { items: [ended()] };
    return path.endsWith('/output') ? raw(pieces([])) : ended();
  };
  return { kept, answer };
}

it('sends only what is missing, the manifest last, and names it in the session', async () => {
  const { kept, answer } = aServer([sha('one')]);
  const scene = openScene(answer);

  expect(await scene.muster('run', '--sync', folder, '--', 'true'), scene.errors()).toBe(0);

  const [first, second] = [...kept];
  expect(kept.size).toBe(2);
  expect(first).toEqual([sha('two'), 'two']);
  expect(second?.[1]).toContain('"path":"sub/b"');
  const submitted = scene.asked.find(({ method, path }) => method === 'POST' && path === '/sessions');
  expect(submitted?.body).toMatchObject([{ files: { manifest: second?.[0] } }]);

  await scene.muster('run', '--sync', folder, '--', 'true');
  expect(scene.asked.filter(({ method }) => method === 'PUT')).toHaveLength(2);
});

it('sends small files together and each large one alone, whatever their names are', async () => {
  const { kept, answer } = aServer([], { session_bytes: 1e9, session_files: 10_000 });
  const scene = openScene(answer);
  mkdirSync(join(folder, '@types'));
  const texts = [
    'x'.repeat(300_000),
    'y'.repeat(2_000_000),
    ...Array.from({ length: 30 }, (_, n) => `${n}`.repeat(100_000)),
  ];
  for (const [n, text] of texts.entries()) writeFileSync(join(folder, `@types/-${n} *`), text);

  expect(await scene.muster('run', '--sync', folder, '--', 'true'), scene.errors()).toBe(0);

  for (const text of ['one', 'two', ...texts]) expect(kept.get(sha(text))).toBe(text);
  const uploads = scene.asked.filter(
    ({ method, path }) => method === 'PUT' || (method === 'POST' && path === '/files'),
  );
  // Two large files, 5 MB of small ones, and the manifest.
  expect(uploads.length).toBeLessThanOrEqual(2 + 4 + 1);
});

it('refuses the root, the home folder and what is above it, unless --yes is given', async () => {
  for (const [all, what] of [
    ['/', '/ is the whole machine.'],
    [homedir(), `${homedir()} is your home folder.`],
  ] as const) {
    const scene = openScene(aServer().answer);
    expect(await scene.muster('run', '--sync', all, '--', 'true')).toBe(2);
    expect(scene.errors()).toContain(what);
    expect(scene.errors()).toContain('--yes');
    expect(scene.asked).toEqual([]);
  }
});

it('over the limits of the server nothing is sent, and the largest entries are named', async () => {
  const scene = openScene(aServer([], { session_bytes: 5, session_files: 10 }).answer);

  expect(await scene.muster('run', '--sync', folder, '--', 'true')).toBe(2);

  expect(scene.errors()).toContain('has 2 files with 6 B; at most 10 files with 5 B can be sent.');
  expect(scene.errors()).toContain('a: 3 B in 1 file\n');
  expect(scene.asked.map(({ path }) => path)).toEqual(['/files']);
});

describe('files that the server deletes between their upload and the session', () => {
  const gone = { kind: 'conflict', at: 'files', detail: 'The file is no longer kept.' };
  const isSubmit = ({ method, path }: Asked): boolean => method === 'POST' && path === '/sessions';

  it('are sent again once, and the session is started', async () => {
    const { kept, answer } = aServer();
    let refused = 0;
    const scene = openScene((asked) => {
      if (!isSubmit(asked) || refused > 0) return answer(asked);
      refused += 1;
      kept.delete(sha('two'));
      return refusal(409, gone);
    });

    expect(await scene.muster('run', '--sync', folder, '--', 'true'), scene.errors()).toBe(0);

    // First both with the manifest, then the one that is gone.
    const uploads = scene.asked.filter(
      ({ method, path }) => method === 'PUT' || (method === 'POST' && path === '/files'),
    );
    expect(uploads.map(({ path }) => path)).toEqual([
      '/files',
      expect.stringMatching(/^\/files\/[0-9a-f]{64}$/),
      `/files/${sha('two')}`,
    ]);
    expect(scene.asked.filter(isSubmit)).toHaveLength(2);
    expect(scene.errors()).toBe(
      'muster: the server has deleted files of this session to make room; sending them again\n',
    );
  });

  it('are not sent a third time: the command fails with the words of the server', async () => {
    const { answer } = aServer();
    const scene = openScene((asked) => (isSubmit(asked) ? refusal(409, gone) : answer(asked)));

    expect(await scene.muster('run', '--sync', folder, '--', 'true')).toBe(5);

    expect(scene.asked.filter(isSubmit)).toHaveLength(2);
    expect(scene.errors()).toContain('The file is no longer kept.');
  });

  it('are not sent again for another conflict, such as a name that is taken', async () => {
    const { answer } = aServer();
    const taken = { kind: 'conflict', at: 'name', detail: 'The name is taken.' };
    const scene = openScene((asked) => (isSubmit(asked) ? refusal(409, taken) : answer(asked)));

    expect(await scene.muster('run', '--sync', folder, '--', 'true')).toBe(5);

    expect(scene.asked.filter(isSubmit)).toHaveLength(1);
  });
});

it('a file that changes while it is sent is named, and no session is started', async () => {
  const { answer } = aServer();
  const scene = openScene((asked) => {
    if (asked.path === '/files/missing') writeFileSync(join(folder, 'a'), 'changed');
    return answer(asked);
  });

  expect(await scene.muster('run', '--sync', folder, '--', 'true')).toBe(2);

  expect(scene.errors()).toContain(`a: The bytes have the SHA-256 ${sha('changed')}, not ${sha('one')}.`);
  expect(scene.asked.some(({ path }) => path === '/sessions')).toBe(false);
});

it('without --sync the session is told where its caller is; with it, it is not', async () => {
  const place = { machine_id: 'm1', folder: '/work' };
  const scene = openScene(aServer().answer, { place });

  await scene.muster('run', '-C', 'src', '--', 'true');
  await scene.muster('run', '--sync', folder, '--', 'true');

  const [plain, synced] = scene.asked.filter(({ method, path }) => method === 'POST' && path === '/sessions');
  expect(plain?.body).toMatchObject([{ caller: place, cwd: 'src' }]);
  expect(Object(synced?.body)[0]).not.toHaveProperty('caller');
});

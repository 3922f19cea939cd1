import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { SessionsDeps } from './deps.ts';
import { CALLER, openScene, specOf } from './testing/scene.ts';

const MANIFEST = 'a'.repeat(64);

/** Files that note who holds what. */
function noting() {
  const log: string[] = [];
  const files: SessionsDeps['files'] = {
    async hold(manifest, token) {
      log.push(`hold for ${token}`);
      if (token === 'foreign') throw new Fault('conflict', 'not yours');
      return { manifest, count: 2, bytes: 10, release: () => void log.push('release') };
    },
  };
  return { log, files };
}

const request = (token = 't1', cwd?: string) => ({
  pool: 'gpu',
  spec: specOf(cwd === undefined ? {} : { cwd }),
  files: { manifest: MANIFEST, token },
});

test('a session with files is placed only on an agent that takes files', async () => {
  const { files } = noting();
  const scene = await openScene({ files });
  await scene.pool('gpu');
  await scene.join('m-velda', { wire: 'velda' });
  await scene.join('m-older', {});

  const [session] = await scene.sessions.submit([request()], CALLER);
  const plain = await scene.submit();
  await scene.clock.settle();
  const id = session?.id ?? '';
  expect(scene.now(id)?.worker).toBeUndefined();
  expect(scene.now(plain.id)?.worker).toBeDefined();
  expect(scene.now(id)?.unmatched).toContain('files for --sync');

  await scene.join('m-new', { takesFiles: true });
  expect(scene.now(id)).toMatchObject({ worker: 'm-new', unmatched: undefined });
  expect(scene.sent.at(-1)).toMatchObject({
    agent: 'm-new',
    command: { do: 'start', spec: { files: { manifest: MANIFEST, count: 2, bytes: 10 } } },
  });
});

test('the files of a session are the same in its next attempt, also after a takeover', async () => {
  const { files } = noting();
  const first = await openScene({ files });
  await first.pool('gpu');
  await first.join('m-1', { takesFiles: true });
  const [session] = await first.sessions.submit([{ ...request(), spec: specOf({ retries: 1 }) }], CALLER);
  await first.clock.settle();
  const id = session?.id ?? '';
  await first.says('m-1', { is: 'started', session: id, attempt: 1 });

  const next = await openScene({ disk: first.disk, clock: first.clock, files });
  await next.gone('m-1');
  await next.join('m-2', { takesFiles: true });
  await next.clock.advance(10 * 60_000);

  expect(next.now(id)).toMatchObject({ worker: 'm-2', attempt: 2, spec: { files: { manifest: MANIFEST } } });
});

test('many sessions with the same files hold them once, until they are in memory', async () => {
  const { files, log } = noting();
  const scene = await openScene({ files });
  await scene.pool('gpu');

  await scene.sessions.submit([request(), request(), request('t2')], CALLER);

  expect(log).toEqual(['hold for t1', 'hold for t2', 'release', 'release']);
});

test('nothing is accepted where one of them names files of another token, and what was held is released', async () => {
  const { files, log } = noting();
  const scene = await openScene({ files });
  await scene.pool('gpu');

  await expect(scene.sessions.submit([request(), request('foreign')], CALLER)).rejects.toThrow('not yours');

  expect(log).toEqual(['hold for t1', 'hold for foreign', 'release']);
  expect(scene.store.view.sessions.size).toBe(0);
});

test('a relative working directory needs files, and is inside their folder', async () => {
  const { files } = noting();
  const scene = await openScene({ files });
  await scene.pool('gpu');

  await expect(scene.submit({ cwd: 'src' })).rejects.toMatchObject({
    kind: 'invalid',
    message: 'The working directory src is relative, and the session has no files.',
    remedy: expect.stringContaining('--sync'),
  });
  await expect(scene.sessions.submit([request('t1', '../x')], CALLER)).rejects.toThrow('is not in the folder');
  await scene.sessions.submit([request('t1', 'src')], CALLER);
  await scene.submit({ cwd: '/srv' });
});

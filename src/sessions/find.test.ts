import { expect, test } from 'vitest';
import { exited, openScene } from './testing/scene.ts';

const NEVER = new AbortController().signal;

async function running() {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit();
  return { ...scene, id };
}

test('finds live sessions, ended ones, and those that ended before a restart', async () => {
  const scene = await running();

  expect(await scene.sessions.find(scene.id)).toMatchObject({ id: scene.id, worker: 'm-1' });
  await scene.says('m-1', exited(scene.id));
  expect(await scene.sessions.find(scene.id)).toMatchObject({ end: { how: 'exited' } });
  const again = await openScene({ disk: scene.disk, clock: scene.clock });
  expect(await again.sessions.find(scene.id)).toMatchObject({ end: { how: 'exited' } });
  expect(await again.sessions.find('nobody')).toBeUndefined();
});

test('waits for an end, and has it at once where it was before', async () => {
  const scene = await running();
  const waiting = scene.sessions.ended(scene.id, NEVER);
  await scene.says('m-1', exited(scene.id));

  expect(await waiting).toMatchObject({ id: scene.id, end: { how: 'exited' } });
  expect(await scene.sessions.ended(scene.id, NEVER)).toMatchObject({ end: { how: 'exited' } });
});

test('an end counts only once it is durable', async () => {
  const scene = await running();
  let hasEnded = false;
  void scene.sessions.ended(scene.id, NEVER).then(() => {
    hasEnded = true;
  });
  await scene.clock.settle();
  scene.gate.pause();
  await scene.says('m-1', exited(scene.id));
  expect(hasEnded).toBe(false);

  scene.gate.resume();
  await scene.clock.settle();

  expect(hasEnded).toBe(true);
});

test('a wait can be given up, ends with the server, and is refused for what never was', async () => {
  const scene = await running();
  const leaving = new AbortController();
  const left = scene.sessions.ended(scene.id, leaving.signal);
  const stopped = scene.sessions.ended(scene.id, NEVER);
  left.catch(() => {});
  stopped.catch(() => {});
  await scene.clock.settle();

  leaving.abort();
  await expect(left).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The caller stopped waiting for the session.',
  });
  await expect(scene.sessions.ended('nobody', NEVER)).rejects.toMatchObject({ kind: 'missing' });
  await scene.sessions.stop();
  await expect(stopped).rejects.toMatchObject({ kind: 'unavailable', message: 'The server is stopping.' });
});

import { expect, test } from 'vitest';
import { exited, openScene } from './testing/scene.ts';

const removal = { at: 1, deadlineAt: 2, why: 'asked' };

test('when a pool is removed, those that wait in it are cancelled and those that run go on', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  const running = await scene.submit();
  const waiting = await scene.submit();

  await scene.pool('gpu', { removal });
  expect(scene.disk.histories.ended).toMatchObject([{ id: waiting.id, end: { how: 'cancelled' } }]);

  await scene.says('m-1', exited(running.id));
  expect(scene.disk.histories.ended.at(-1)).toMatchObject({ id: running.id, end: { how: 'exited' } });
});

test('a freeze holds that back, and a pool that is gone at a restart is treated alike', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  const { id } = await scene.submit();
  await scene.change('freezes', { id: 'fleet', at: 1, why: 'test', by: 'me', automatic: false });
  await scene.remove('pools', 'gpu');
  expect(scene.now(id)).toBeDefined();
  const again = await openScene({ disk: scene.disk, clock: scene.clock });
  expect(again.now(id)).toBeDefined();

  await again.remove('freezes', 'fleet');

  expect(again.disk.histories.ended).toMatchObject([{ id, end: { how: 'cancelled' } }]);
});

test('a long queue is cancelled bit by bit', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 0 };
  await scene.sessions.submit(Array(1_200).fill({ pool: 'gpu', spec }), { who: 'me', from: '' });

  await scene.pool('gpu', { removal });
  await scene.clock.advance(0);

  expect(scene.disk.histories.ended).toHaveLength(1_200);
});

test('a session that comes back into the line of such a pool is cancelled, not placed elsewhere', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit();
  await scene.join('m-2');
  await scene.pool('gpu', { removal });

  await scene.says('m-1', { is: 'refused', session: id, attempt: 1, why: 'stopping' });

  expect(scene.disk.histories.ended).toMatchObject([{ id, attempt: 1, end: { how: 'cancelled' } }]);
});

test('what waits in a pool that went while we were away is cancelled at the start', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  const { id } = await scene.submit();
  scene.disk.rows.get('pools')?.clear();

  await openScene({ disk: scene.disk, clock: scene.clock });

  expect(scene.disk.histories.ended).toMatchObject([{ id, end: { how: 'cancelled' } }]);
});

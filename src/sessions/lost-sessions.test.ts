import { expect, test } from 'vitest';
import { FLEET } from '#core/worker.ts';
import { openRunningSession, openScene } from './testing/scene.ts';

const freeze = (id: string) => ({ id, at: 1, why: 'test', by: 'me', automatic: false });

test('a session whose agent is only away is left alone, however long', async () => {
  const scene = await openRunningSession({ spec: { retries: 5 } });
  await scene.join('m-2');

  await scene.leave('m-1');
  await scene.clock.advance(86_400_000);

  expect(scene.now(scene.id)).toMatchObject({ worker: 'm-1', attempt: 1 });
});

test('when its machine is gone it starts again as often as it may, then it is lost', async () => {
  const scene = await openRunningSession({ spec: { retries: 1 } });

  await scene.gone('m-1');
  expect(scene.now(scene.id)).toMatchObject({ worker: undefined, startedAt: undefined, losses: 1 });

  await scene.join('m-2');
  await scene.says('m-2', { is: 'started', session: scene.id, attempt: 2 });
  await scene.gone('m-2');

  expect(scene.disk.histories.ended).toMatchObject([{ id: scene.id, attempt: 2, end: { how: 'lost' } }]);
  const kinds = scene.disk.histories.events.map(({ kind }) => kind);
  expect(kinds).toEqual(['session.requeued', 'session.lost']);
});

test('the event of a requeued session keeps when its attempt was placed and started', async () => {
  const scene = await openRunningSession({ spec: { retries: 1 } });
  const { placedAt, startedAt } = scene.now(scene.id) ?? {};

  await scene.gone('m-1');

  const isoTime = (ms = Number.NaN): string => new Date(ms).toISOString();
  expect(scene.disk.histories.events[0]?.fields).toEqual({
    attempt: 1,
    worker: 'm-1',
    placedAt: isoTime(placedAt),
    startedAt: isoTime(startedAt),
  });
});

test.each([['gpu'], [FLEET]])(
  'while %s is frozen nothing is requeued or failed; after the thaw it is',
  async (scope) => {
    const scene = await openRunningSession({ spec: { retries: 0 } });
    await scene.change('freezes', freeze(scope));

    await scene.gone('m-1');
    await scene.clock.advance(60_000);
    expect(scene.now(scene.id)).toMatchObject({ worker: 'm-1', attempt: 1 });

    await scene.remove('freezes', scope);
    expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'lost' } }]);
  },
);

test('a freeze of another pool holds nothing up', async () => {
  const scene = await openRunningSession({ spec: { retries: 0 } });
  await scene.change('freezes', freeze('other'));

  await scene.gone('m-1');

  expect(scene.disk.histories.ended).toHaveLength(1);
});

test('what an agent denies waits for the thaw too', async () => {
  const scene = await openRunningSession({ spec: { retries: 0 } });
  await scene.change('freezes', freeze(FLEET));
  await scene.leave('m-1');
  await scene.join('m-1');
  expect(scene.now(scene.id)).toMatchObject({ worker: 'm-1' });

  await scene.remove('freezes', FLEET);

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'lost' } }]);
});

test('the last word of an agent counts: what it denied and then lists after all goes on', async () => {
  const scene = await openRunningSession({ spec: { retries: 0 } });
  await scene.change('freezes', freeze(FLEET));
  await scene.join('m-1');
  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });

  await scene.remove('freezes', FLEET);

  expect(scene.now(scene.id)).toMatchObject({ worker: 'm-1', attempt: 1 });
});

test('after a restart, sessions whose worker is gone are lost', async () => {
  const scene = await openRunningSession({ spec: { retries: 0 } });
  scene.disk.rows.get('workers')?.clear();

  await openScene({ disk: scene.disk, clock: scene.clock });

  expect(scene.disk.histories.ended).toMatchObject([{ id: scene.id, end: { how: 'lost' } }]);
});

test('a session with a kill request whose machine is gone was killed, not lost, and does not start again', async () => {
  const scene = await openRunningSession({ spec: { retries: 3 } });
  await scene.sessions.kill(scene.id, false, { who: 'me', from: '' });

  await scene.gone('m-1');

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'killed' } }]);
});

test('in a pool that is being removed a lost session does not wait again', async () => {
  const scene = await openRunningSession({ spec: { retries: 3 } });
  await scene.pool('gpu', { removal: { at: 1, deadlineAt: 2, why: 'asked' } });

  await scene.gone('m-1');

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'lost' } }]);
});

test('a session whose machine went before it was sent anything waits again without spending a retry', async () => {
  const scene = await openScene({ send: () => false });
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit();
  expect(scene.now(id)?.worker).toBe('m-1');

  await scene.gone('m-1');

  expect(scene.now(id)).toMatchObject({ worker: undefined });
  expect(scene.now(id)?.losses).toBeUndefined();
});

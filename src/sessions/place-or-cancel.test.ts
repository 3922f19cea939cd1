import { expect, test } from 'vitest';
import { exited, openScene, type Scene, workerRow } from './testing/scene.ts';

const startsOn = ({ sent }: Scene) =>
  sent
    .filter(({ command }) => command.do === 'start')
    .map(({ agent, command }) => `${Object(command).session}@${agent}`);

const removal = { at: 1, deadlineAt: 2, why: 'asked' };

test('a session gets a free slot at once, and its agent is sent what to run', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');

  const { id, spec } = await scene.submit({ command: ['echo', 'hi'] });

  expect(scene.now(id)).toMatchObject({ worker: 'm-1', attempt: 1, placedAt: scene.clock.now() });
  expect(scene.sent).toEqual([{ agent: 'm-1', command: { do: 'start', session: id, attempt: 1, spec } }]);
});

test('never gives an agent more sessions than it has slots, and reuses a slot when one ends', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { slots: 2 });
  const [a, b, c] = [await scene.submit(), await scene.submit(), await scene.submit()];

  expect(startsOn(scene)).toEqual([`${a.id}@m-1`, `${b.id}@m-1`]);

  await scene.says('m-1', exited(a.id));

  expect(startsOn(scene)).toEqual([`${a.id}@m-1`, `${b.id}@m-1`, `${c.id}@m-1`]);
});

test('waiting sessions are placed when an agent joins', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  const late = await scene.submit({ priority: 5 });
  const first = await scene.submit({ priority: 1 });

  await scene.join('m-1');

  expect(startsOn(scene)).toEqual([`${first.id}@m-1`]);
  expect(scene.now(late.id)?.worker).toBeUndefined();
});

test('an agent that is connected but not settled yet gets nothing', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.submit();

  await scene.change('workers', workerRow('m-1', 'gpu'));
  await scene.change('agents', {
    id: 'm-1',
    use: 'worker',
    owner: 'gpu',
    epoch: 1,
    slots: 1,
    labels: {},
    wire: 'muster',
    version: '1',
    hostname: 'm-1',
    address: '',
    connectedAt: 0,
  });

  expect(scene.sent).toEqual([]);
});

test.each([
  ['drains', { drain: { at: 1, why: 'asked' } }],
  ['is being removed', { removal: { at: 1, why: 'idle' } }],
])('an agent whose worker %s gets nothing new', async (_, more) => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  await scene.change('workers', { ...workerRow('m-1', 'gpu'), ...more });

  await scene.submit();

  expect(scene.sent).toEqual([]);
});

test('a paused pool places nothing until it goes on', async () => {
  const scene = await openScene();
  await scene.pool('gpu', { pausedAt: 1 });
  await scene.join('m-1');
  const { id } = await scene.submit();
  expect(scene.sent).toEqual([]);

  await scene.pool('gpu');

  expect(startsOn(scene)).toEqual([`${id}@m-1`]);
});

test('a frozen pool goes on placing on agents that are there', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  await scene.change('freezes', { id: 'fleet', at: 1, why: 'test', by: 'me', automatic: false });

  const { id } = await scene.submit();

  expect(startsOn(scene)).toEqual([`${id}@m-1`]);
});

test('labels are offered by the agent and by its pool', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  const { spec } = scene.store.view.pools.get('gpu') ?? expect.fail();
  await scene.pool('gpu', { spec: { ...spec, labels: { zone: 'x' } } });
  await scene.join('m-1', { labels: { gpu: 'h100' } });

  const elsewhere = await scene.submit({ labels: { zone: 'y' } });
  const here = await scene.submit({ labels: { zone: 'x', gpu: 'h100' } });

  expect(startsOn(scene)).toEqual([`${here.id}@m-1`]);
  expect(scene.now(elsewhere.id)?.worker).toBeUndefined();
});

test('places more than one pass takes', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { slots: 2_500 });
  const requests = Array.from({ length: 2_500 }, () => ({ pool: 'gpu', spec: { ...specOfTrue } }));

  await scene.sessions.submit(requests, { who: 'me', from: '' });
  await scene.clock.advance(0);

  expect(startsOn(scene)).toHaveLength(2_500);
});

const specOfTrue = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 0 };

test('after the stop ends are still recorded, and nothing is placed', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  const running = await scene.submit();
  await scene.join('m-2', { executions: [{ session: 'foreign', attempt: 1 }] });
  const waiting = await scene.submit();
  await scene.sessions.stop();

  await scene.says('m-2', exited('foreign'));
  await scene.says('m-1', exited(running.id));

  expect(scene.disk.histories.ended).toMatchObject([{ id: running.id }]);
  expect(scene.now(waiting.id)?.worker).toBeUndefined();
});

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

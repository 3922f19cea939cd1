import { expect, test } from 'vitest';
import type { Agent } from '#core/machine.ts';
import { exitCodeOf } from '#core/session.ts';
import { CALLER, exited, openRunningSession } from './testing/scene.ts';

async function running(wire: Agent['wire']) {
  const scene = await openRunningSession({ agent: { wire }, spec: { timeoutMs: 60_000, graceMs: 10_000 } });
  const kills = () => scene.sent.map(({ command }) => command).filter((command) => command.do === 'kill');
  return { ...scene, kills };
}

test('our own agent keeps the limit itself; only when it stays silent the session has timed out here', async () => {
  const scene = await running('muster');

  await scene.clock.advance(60_000 + 10_000 + 29_999);
  expect(scene.kills()).toEqual([]);
  expect(scene.now(scene.id)).toBeDefined();

  await scene.clock.advance(1);
  expect(scene.disk.histories.ended).toMatchObject([{ id: scene.id, end: { how: 'timeout' } }]);
  expect(scene.kills()).toMatchObject([{ session: scene.id, force: true }]);
});

test('the slot of a session that we gave up stays taken until the agent says that it ended', async () => {
  const scene = await running('muster');
  await scene.clock.advance(100_000);
  const { id } = await scene.submit();
  expect(scene.now(id)?.worker).toBeUndefined();

  await scene.says('m-1', exited(scene.id));

  expect(scene.now(id)?.worker).toBe('m-1');
  expect(scene.disk.histories.ended).toHaveLength(1);
});

test('an agent that is away at the time is believed when it returns', async () => {
  const scene = await running('muster');
  await scene.leave('m-1');
  await scene.clock.advance(3_600_000);
  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  await scene.clock.advance(29_000);

  await scene.says('m-1', { ...exited(scene.id), how: 'timeout' } as ReturnType<typeof exited>);

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'timeout', exitCode: 0 } }]);
});

test('an agent that returns right before it would be given up is believed too', async () => {
  const scene = await running('muster');
  await scene.leave('m-1');
  await scene.clock.advance(99_900);
  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  await scene.clock.advance(29_900);

  await scene.says('m-1', exited(scene.id));

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'exited', exitCode: 0 } }]);
});

test('an agent that returns and stays silent is given up after a moment', async () => {
  const scene = await running('muster');
  await scene.leave('m-1');
  await scene.clock.advance(3_600_000);
  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });

  await scene.clock.advance(30_000);

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'timeout' } }]);
});

test('for a Velda agent, which knows no limits, we keep them: polite, forced, given up', async () => {
  const scene = await running('velda');

  await scene.clock.advance(60_000);
  expect(scene.kills()).toMatchObject([{ force: false }]);
  await scene.clock.advance(10_000);
  expect(scene.kills()).toMatchObject([{ force: false }, { force: true }]);
  await scene.clock.advance(30_000);

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'timeout' } }]);
});

test('what a Velda agent reports as killed after our limit has timed out', async () => {
  const scene = await running('velda');
  await scene.clock.advance(60_000);

  await scene.says('m-1', { ...exited(scene.id), how: 'killed' } as ReturnType<typeof exited>);

  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'timeout' } }]);
});

test('a signal that a Velda agent reports after our limit does not lend it its exit code', async () => {
  const scene = await running('velda');
  await scene.clock.advance(60_000);

  await scene.says('m-1', { is: 'ended', session: scene.id, attempt: 1, lastSeq: 0, how: 'signalled', exitCode: 143 });

  const [session] = scene.disk.histories.ended;
  expect(session?.end).toMatchObject({ how: 'timeout' });
  expect(session?.end && exitCodeOf(session.end)).toBe(124);
});

test('a polite kill that a Velda agent does not heed is forced after the grace, and repeating it does not put that off', async () => {
  const scene = await running('velda');
  await scene.sessions.kill(scene.id, false, CALLER);
  await scene.clock.advance(9_000);
  await scene.sessions.kill(scene.id, false, CALLER);

  await scene.clock.advance(1_000);

  expect(scene.kills().at(-1)).toMatchObject({ force: true });
  await scene.says('m-1', { ...exited(scene.id), how: 'killed' } as ReturnType<typeof exited>);
  expect(scene.disk.histories.ended).toMatchObject([{ end: { how: 'killed' } }]);
});

test('a session that has ended in time is left in peace', async () => {
  const scene = await running('velda');
  await scene.says('m-1', exited(scene.id));
  await scene.clock.advance(50);
  scene.sent.length = 0;
  expect(scene.clock.nextAlarmMs()).toBeUndefined();

  await scene.clock.advance(600_000);

  expect(scene.sent).toEqual([]);
  expect(scene.disk.histories.ended).toHaveLength(1);
});

import { expect, test } from 'vitest';
import type { Agent } from '#core/machine.ts';
import { CALLER, exited, openScene, type Scene, workerRow } from './testing/scene.ts';

const commandsOf = ({ sent }: Scene) => sent.map(({ agent, command }) => ({ agent, ...command }));

async function placed(wire: Agent['wire'] = 'muster', retries = 0) {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { wire });
  const { id, spec } = await scene.submit({ retries });
  return { ...scene, id, spec };
}

test('a session that its agent still runs goes on, though the agent was away', async () => {
  const scene = await placed();
  await scene.says('m-1', { is: 'started', session: scene.id, attempt: 1 });
  await scene.leave('m-1');
  await scene.clock.advance(600_000);
  scene.sent.length = 0;

  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  await scene.says('m-1', exited(scene.id));

  expect(commandsOf(scene)).toMatchObject([{ do: 'ack', result: true }]);
  expect(scene.disk.histories.ended).toMatchObject([{ id: scene.id, attempt: 1, end: { how: 'exited' } }]);
});

test('a session that its agent lists has started, though the word of it was lost', async () => {
  const scene = await placed();
  await scene.leave('m-1');

  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });

  expect(scene.now(scene.id)?.startedAt).toBe(scene.clock.now());
});

test('a start that could not be sent is sent when the agent is back, as the same attempt', async () => {
  const scene = await openScene({ send: () => isReachable });
  let isReachable = false;
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit();
  expect(scene.now(id)?.worker).toBe('m-1');
  await scene.leave('m-1');
  isReachable = true;

  await scene.join('m-1');

  expect(commandsOf(scene)).toMatchObject([{ agent: 'm-1', do: 'start', session: id, attempt: 1 }]);
});

test('a start that was sent and never arrived is sent again to one of our own agents', async () => {
  const scene = await placed();
  await scene.leave('m-1');

  await scene.join('m-1');

  expect(commandsOf(scene)).toMatchObject([
    { do: 'start', attempt: 1 },
    { do: 'start', attempt: 1 },
  ]);
});

test('a Velda agent that does not list what was sent to it may have run it: it is lost, never started again', async () => {
  const scene = await placed('velda');
  await scene.leave('m-1');

  await scene.join('m-1', { wire: 'velda' });

  expect(scene.sent).toHaveLength(1);
  expect(scene.disk.histories.ended).toMatchObject([{ id: scene.id, end: { how: 'lost' } }]);
});

test('a running session of which its agent has no trace is lost, or starts again where it may', async () => {
  const final = await placed();
  const retried = await placed('muster', 1);
  for (const scene of [final, retried]) {
    await scene.says('m-1', { is: 'started', session: scene.id, attempt: 1 });
    await scene.leave('m-1');

    await scene.join('m-1');
  }

  expect(final.disk.histories.ended).toMatchObject([{ end: { how: 'lost' } }]);
  expect(commandsOf(retried).at(-1)).toMatchObject({ do: 'start', session: retried.id, attempt: 2 });
});

test('what an agent runs and should not is killed, and its slot counts as taken until then', async () => {
  const scene = await placed();
  await scene.says('m-1', exited(scene.id));
  const ended = scene.id;
  const { id: live } = await scene.submit();
  const elsewhere = { session: ended, attempt: 1 };
  const older = { session: live, attempt: 1 };
  scene.sent.length = 0;

  await scene.join('m-2', { slots: 2, executions: [elsewhere, older] });
  const { id: waiting } = await scene.submit();

  const kills = commandsOf(scene).filter((command) => command.do === 'kill');
  expect(kills).toMatchObject([
    { agent: 'm-2', session: live, force: true },
    { agent: 'm-2', session: ended, force: true },
  ]);
  expect(scene.now(waiting)?.worker).toBeUndefined();

  await scene.says('m-2', exited(ended));
  expect(scene.now(waiting)?.worker).toBe('m-2');
  expect(scene.now(live)).toMatchObject({ worker: 'm-1', attempt: 1 });
});

test.each(['muster', 'velda'] as const)(
  'a session that we do not know is never killed on a %s agent: it keeps its slot, and an event says so once',
  async (wire) => {
    const scene = await openScene();
    await scene.pool('gpu');
    const executions = [{ session: 'of-another-server', attempt: 1 }];

    await scene.join('m-1', { wire, executions });
    await scene.leave('m-1');
    await scene.join('m-1', { wire, executions });
    await scene.says('m-1', { is: 'started', session: 'of-another-server', attempt: 1 });
    const { id } = await scene.submit();

    expect(scene.sent).toEqual([]);
    expect(scene.now(id)?.worker).toBeUndefined();
    expect(scene.unknown).toEqual({ 'm-1': ['of-another-server'] });
    expect(scene.disk.histories.events).toMatchObject([
      { kind: 'worker.unknown-sessions', subject: 'worker/m-1', message: expect.stringContaining('of-another-server') },
    ]);

    await scene.says('m-1', exited('of-another-server'));
    expect(scene.unknown).toEqual({ 'm-1': [] });
    expect(scene.now(id)?.worker).toBe('m-1');
  },
);

test('a start that found no room on the way back goes to another agent without spending a retry', async () => {
  const scene = await placed();
  await scene.leave('m-1');
  await scene.join('m-2');

  await scene.join('m-1', { executions: [{ session: 'foreign', attempt: 1 }] });

  expect(scene.now(scene.id)).toMatchObject({ worker: 'm-2', attempt: 2 });
  expect(scene.now(scene.id)?.losses).toBeUndefined();
});

test('a start that was not sent goes elsewhere when its agent has begun to drain', async () => {
  const scene = await placed();
  await scene.leave('m-1');
  await scene.change('workers', { ...workerRow('m-1', 'gpu'), drain: { at: 1, why: 'asked' } });
  await scene.join('m-2');

  await scene.join('m-1');

  expect(scene.now(scene.id)?.worker).toBe('m-2');
});

test('a kill is said again to an agent that comes back with the session', async () => {
  const scene = await placed();
  await scene.leave('m-1');
  await scene.sessions.kill(scene.id, false, CALLER);
  scene.sent.length = 0;

  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });

  expect(commandsOf(scene)).toEqual([{ agent: 'm-1', do: 'kill', session: scene.id, force: false, graceMs: 5_000 }]);
});

test('a session that was killed before its start arrived is cancelled, not started', async () => {
  const scene = await placed();
  await scene.leave('m-1');
  await scene.sessions.kill(scene.id, false, CALLER);
  scene.sent.length = 0;

  await scene.join('m-1');

  expect(scene.sent).toEqual([]);
  expect(scene.disk.histories.ended).toMatchObject([{ id: scene.id, end: { how: 'cancelled' } }]);
});

test('after a restart, what was placed and not started is sent to its agent once', async () => {
  const scene = await placed();
  const restarted = await openScene({ disk: scene.disk, clock: scene.clock });

  await restarted.join('m-1');
  restarted.sessions.agentJoined('m-1', []);
  await restarted.clock.settle();

  expect(commandsOf(restarted)).toMatchObject([{ agent: 'm-1', do: 'start', session: scene.id, attempt: 1 }]);
});

test('after a restart it is unknown what was sent to a Velda agent: what it does not list is lost', async () => {
  const scene = await placed('velda');
  const restarted = await openScene({ disk: scene.disk, clock: scene.clock });

  await restarted.join('m-1', { wire: 'velda' });

  expect(restarted.sent).toEqual([]);
  expect(restarted.disk.histories.ended).toMatchObject([{ id: scene.id, end: { how: 'lost' } }]);
});

test('what was never sent to a Velda agent is sent when it is back', async () => {
  const scene = await openScene({ send: () => isReachable });
  let isReachable = false;
  await scene.pool('gpu');
  await scene.join('m-1', { wire: 'velda' });
  const { id } = await scene.submit();
  await scene.leave('m-1');
  isReachable = true;

  await scene.join('m-1', { wire: 'velda' });

  expect(commandsOf(scene)).toMatchObject([{ do: 'start', session: id, attempt: 1 }]);
});

test('a list that comes twice on one connection does not count for what was sent in between', async () => {
  const scene = await placed();
  await scene.says('m-1', { is: 'started', session: scene.id, attempt: 1 });

  scene.sessions.agentJoined('m-1', []);
  await scene.clock.settle();
  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });
  scene.sessions.agentJoined('m-1', []);
  await scene.clock.settle();

  expect(scene.now(scene.id)).toMatchObject({ worker: 'm-1', attempt: 1 });
});

test('an agent that lists an earlier attempt does not run the newer one', async () => {
  const scene = await placed('muster', 1);
  await scene.says('m-1', { is: 'started', session: scene.id, attempt: 1 });
  await scene.join('m-1');
  expect(scene.now(scene.id)).toMatchObject({ worker: 'm-1', attempt: 2 });

  await scene.join('m-1', { executions: [{ session: scene.id, attempt: 1 }] });

  expect(scene.now(scene.id)?.startedAt).toBeUndefined();
});

import { expect, test } from 'vitest';
import { exited, openRunningSession, openScene, output } from './testing/scene.ts';

test('a start is recorded once', async () => {
  const { now, id, clock, says } = await openRunningSession();
  const startedAt = clock.now();
  await clock.advance(5_000);

  await says('m-1', { is: 'started', session: id, attempt: 1 });

  expect(now(id)?.startedAt).toBe(startedAt);
});

test('an end moves the session out of the live ones and into the ended ones, once, and is acknowledged each time', async () => {
  const { id, store, disk, sent, says, clock } = await openRunningSession();
  await clock.advance(2_000);

  await says('m-1', { ...exited(id, 1, 7), exitCode: 3 } as ReturnType<typeof exited>);
  await says('m-1', exited(id, 1, 7));

  expect(store.view.sessions.size).toBe(0);
  expect(disk.histories.ended).toMatchObject([{ id, end: { how: 'exited', exitCode: 3, at: clock.now() } }]);
  const ack = { agent: 'm-1', command: { do: 'ack', session: id, attempt: 1, seq: 7, result: true } };
  expect(sent).toEqual([ack, ack]);
});

test('reports of another agent, another attempt or an unknown session change nothing and are acknowledged', async () => {
  const { id, now, sent, says, join, disk } = await openRunningSession();
  await join('m-2');
  const before = now(id);

  await says('m-2', exited(id, 1));
  await says('m-1', exited(id, 9));
  await says('m-1', output('unknown', 4, 'x'));

  expect(now(id)).toBe(before);
  expect(disk.histories.ended).toEqual([]);
  expect(disk.histories.output).toEqual([]);
  expect(sent.map(({ agent, command }) => ({ agent, ...command }))).toEqual([
    { agent: 'm-2', do: 'ack', session: id, attempt: 1, seq: 0, result: true },
    { agent: 'm-1', do: 'ack', session: id, attempt: 9, seq: 0, result: true },
    { agent: 'm-1', do: 'ack', session: 'unknown', attempt: 1, seq: 4, result: false },
  ]);
});

test('an agent that starts what is not its own gets a kill command, and its slot counts as taken until it has', async () => {
  const scene = await openRunningSession();
  const { id: old } = scene;
  await scene.says('m-1', exited(old));
  scene.sent.length = 0;

  await scene.says('m-1', { is: 'started', session: old, attempt: 1 });
  const { id } = await scene.submit();
  expect(scene.sent).toEqual([{ agent: 'm-1', command: { do: 'kill', session: old, force: true, graceMs: 0 } }]);
  expect(scene.now(id)?.worker).toBeUndefined();

  await scene.says('m-1', exited(old));
  expect(scene.now(id)?.worker).toBe('m-1');
});

test('a refused session is offered to another agent, and after three more refusals it has ended', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  await scene.join('m-2');
  const { id } = await scene.submit();
  const asked: string[] = [];

  for (let attempt = 1; attempt <= 4; attempt++) {
    const agent = scene.now(id)?.worker ?? expect.fail(`waits at attempt ${attempt}`);
    asked.push(agent);
    await scene.says(agent, { is: 'refused', session: id, attempt, why: 'no such user' });
    await scene.clock.advance(1_000);
  }

  expect(asked.slice(0, 2)).toEqual(['m-1', 'm-2']);
  expect(scene.store.view.sessions.size).toBe(0);
  expect(scene.disk.histories.ended).toMatchObject([{ id, end: { how: 'refused', message: 'no such user' } }]);
  const kinds = scene.disk.histories.events.map(({ kind }) => kind);
  expect(kinds).toEqual(['session.requeued', 'session.requeued', 'session.requeued', 'session.refused']);
});

test('an agent of Velda, which gives no reason, is asked only once more', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { wire: 'velda' });
  const { id } = await scene.submit();
  let asked = 0;

  while (scene.now(id)) {
    asked += 1;
    await scene.says('m-1', { is: 'refused', session: id, attempt: asked, why: 'could not start' });
    await scene.clock.advance(1_000);
  }

  expect(asked).toBe(2);
  expect(scene.disk.histories.ended).toMatchObject([{ id, end: { how: 'refused', message: 'could not start' } }]);
});

test('an agent that refused gets nothing for a second, so that it cannot burn through the queue', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { slots: 4 });
  const { id } = await scene.submit();

  await scene.says('m-1', { is: 'refused', session: id, attempt: 1, why: 'stopping' });
  const other = await scene.submit();

  expect(scene.now(id)?.worker).toBeUndefined();
  expect(scene.now(other.id)?.worker).toBeUndefined();

  await scene.clock.advance(1_000);
  expect(scene.now(id)).toMatchObject({ worker: 'm-1', attempt: 2 });
});

test('a refusal does not spend a retry', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit({ retries: 1 });
  await scene.says('m-1', { is: 'refused', session: id, attempt: 1, why: 'busy' });
  await scene.join('m-2');
  await scene.says('m-2', { is: 'started', session: id, attempt: 2 });

  await scene.gone('m-2');

  expect(scene.now(id)).toMatchObject({ losses: 1 });
});

test('a late word of an earlier attempt does not kill the newer one on the same agent', async () => {
  const { id, sent, says } = await openRunningSession();

  await says('m-1', { is: 'started', session: id, attempt: 9 });

  expect(sent).toEqual([]);
});

test.each([
  ['on no agent', 'anywhere', ['m-1']],
  ['on this agent', 'here', ['m-1', 'm-2']],
] as const)('a session that can never run %s is not offered to it again', async (_, forGood, asked) => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  await scene.join('m-2');
  const { id } = await scene.submit();
  const agents: string[] = [];

  for (let attempt = 1; scene.now(id); attempt++) {
    const agent = scene.now(id)?.worker ?? expect.fail(`waits at attempt ${attempt}`);
    agents.push(agent);
    await scene.says(agent, { is: 'refused', session: id, attempt, why: 'no terminal', forGood });
  }

  expect(agents).toEqual(asked);
  expect(scene.disk.histories.ended).toMatchObject([{ id, end: { how: 'refused', message: 'no terminal' } }]);
});

test('a session whose agent gives no result is lost: it starts again where it may', async () => {
  const final = await openRunningSession();
  const retried = await openRunningSession({ spec: { retries: 1 } });
  const lost = { is: 'ended', attempt: 1, lastSeq: 0, how: 'lost', message: 'The agent was stopped.' } as const;

  for (const scene of [final, retried]) await scene.says('m-1', { ...lost, session: scene.id });

  expect(final.disk.histories.ended).toMatchObject([{ end: { how: 'lost', message: 'The agent was stopped.' } }]);
  expect(retried.now(retried.id)).toMatchObject({ attempt: 2, losses: 1 });
  for (const { sent, id } of [final, retried])
    expect(sent.map(({ command }) => command)).toContainEqual({
      do: 'ack',
      session: id,
      attempt: 1,
      seq: 0,
      result: true,
    });
});

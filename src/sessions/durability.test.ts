import { expect, test } from 'vitest';
import { CALLER, exited, openScene, output, specOf } from './testing/scene.ts';

const NEVER = new AbortController().signal;

test('with the disk paused no answer and no message leaves', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1', { slots: 4 });
  const running = await scene.submit({ stdin: true });
  const queued = await scene.submit({ labels: { no: 'where' } });
  const repeated = [{ pool: 'gpu', spec: specOf({ labels: { no: 'where' } }) }];
  await scene.sessions.submit(repeated, CALLER, 'key');
  const sentBefore = scene.sent.length;
  const answers: string[] = [];
  const note = (name: string, work: Promise<unknown>): void => void work.then(() => answers.push(name));
  scene.gate.pause();

  note('submit', scene.sessions.submit([{ pool: 'gpu', spec: specOf() }], CALLER));
  note('repeat', scene.sessions.submit(repeated, CALLER, 'key'));
  note('kill queued', scene.sessions.kill(queued.id, false, CALLER));
  note('kill running', scene.sessions.kill(running.id, false, CALLER));
  note('find', scene.sessions.find(running.id));
  note('ended', scene.sessions.ended(queued.id, NEVER));
  note('output', scene.sessions.output(running.id, { follow: true }, NEVER)[Symbol.asyncIterator]().next());
  await scene.says('m-1', { is: 'started', session: running.id, attempt: 1 });
  await scene.says('m-1', output(running.id, 1, 'hello'));
  await scene.says('m-1', exited(running.id, 1, 1));
  await scene.says('m-1', exited(running.id, 1, 1));
  await scene.says('m-1', output('unknown', 1, 'x'));
  await scene.join('m-1', { slots: 4, executions: [{ session: 'unknown', attempt: 1 }] });
  await scene.join('m-2', { slots: 4 });
  await scene.clock.advance(1_000);

  expect(answers).toEqual([]);
  expect(scene.sent.slice(sentBefore)).toEqual([]);

  scene.gate.resume();
  await scene.clock.advance(1_000);

  const asked = ['submit', 'repeat', 'kill queued', 'kill running', 'find', 'ended', 'output'];
  expect(answers.toSorted()).toEqual(asked.toSorted());
  const said = new Set(scene.sent.slice(sentBefore).map(({ command }) => command.do));
  expect(said).toEqual(new Set(['start', 'kill', 'ack']));
});

test('a placement that is not durable is not sent in place of an older one that is', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  const { id } = await scene.submit();
  scene.gate.pause();
  await scene.join('m-1');
  scene.gate.letOneThrough();
  await scene.clock.settle();
  await scene.gone('m-1');
  await scene.join('m-2');
  expect(scene.now(id)).toMatchObject({ attempt: 2, worker: 'm-2' });

  scene.gate.letOneThrough();
  await scene.clock.settle();
  expect(scene.disk.rows.get('sessions')?.get(id)).toMatchObject({ attempt: 1, worker: 'm-1' });
  expect(scene.sent).toEqual([]);

  scene.gate.resume();
  await scene.clock.settle();
  expect(scene.sent).toMatchObject([{ agent: 'm-2', command: { do: 'start', attempt: 2 } }]);
});

test('a connection whose list is not settled yet gets no start that was meant for the one before it', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  scene.gate.pause();
  const submitting = scene.sessions.submit([{ pool: 'gpu', spec: specOf() }], CALLER);
  const agent = scene.store.view.agents.get('m-1') ?? expect.fail();
  await scene.change('agents', { ...agent, epoch: agent.epoch + 1 });

  scene.gate.resume();
  const [session] = await submitting;
  await scene.clock.settle();
  expect(scene.sent).toEqual([]);
  scene.sessions.agentJoined('m-1', []);
  await scene.clock.settle();

  expect(scene.sent).toMatchObject([{ agent: 'm-1', command: { do: 'start', session: session?.id } }]);
});

test('after a failed commit nothing leaves any more', async () => {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  scene.gate.crash();

  const submitting = scene.sessions.submit([{ pool: 'gpu', spec: specOf() }], CALLER);

  await expect(submitting).rejects.toMatchObject({ kind: 'unavailable' });
  await scene.clock.settle();
  expect(scene.sent).toEqual([]);
});

import { expect, test } from 'vitest';
import { openRunningSession } from './testing/scene.ts';

test('passes bytes and window sizes on to the agent', async () => {
  const scene = await openRunningSession({ spec: { terminal: { columns: 80, rows: 24, type: 'xterm' } } });

  scene.sessions.input(scene.id, Buffer.from('ls\n'), false);
  scene.sessions.resize(scene.id, 100, 30);

  expect(scene.sent.map(({ command }) => command)).toEqual([
    { do: 'input', session: scene.id, data: Buffer.from('ls\n'), isLast: false },
    { do: 'resize', session: scene.id, columns: 100, rows: 30 },
  ]);
});

test('a session without stdin takes no input, and one without a terminal no size', async () => {
  const closed = await openRunningSession({ spec: {} });
  const piped = await openRunningSession({ spec: { stdin: true } });

  expect(() => closed.sessions.input(closed.id, Buffer.from('x'), true)).toThrow('has no input');
  expect(() => piped.sessions.resize(piped.id, 1, 1)).toThrow('has no terminal');
  expect(() => piped.sessions.input('nobody', Buffer.from('x'), true)).toThrow('No session "nobody" is running.');
});

test('what cannot be passed on is said', async () => {
  const scene = await openRunningSession({ spec: { stdin: true } });
  const { id: waiting } = await scene.submit({ stdin: true });
  await scene.leave('m-1');

  expect(() => scene.sessions.input(scene.id, Buffer.from('x'), true)).toThrow(
    'The agent of the session is disconnected.',
  );
  expect(() => scene.sessions.input(waiting, Buffer.from('x'), true)).toThrow('The session has not started yet.');
});

test('input that its agent has not taken yet waits, so that the sender is slowed down', async () => {
  const scene = await openRunningSession({ spec: { stdin: true } });
  const { id, sessions } = scene;
  const waiting = (): number => sessions.inputWaitingBytes(id);
  const taken = (bytes: number) => scene.says('m-1', { is: 'input taken', session: id, attempt: 1, bytes });

  sessions.input(id, Buffer.alloc(100), false);
  const untold = waiting();
  await taken(0);
  const told = waiting();
  sessions.input(id, Buffer.alloc(50), false);
  await taken(120);

  expect([untold, told, waiting()]).toEqual([0, 100, 30]);
});

test('what was lost with a connection does not keep the sender waiting', async () => {
  const scene = await openRunningSession({ spec: { stdin: true } });
  const { id, sessions } = scene;
  await scene.says('m-1', { is: 'input taken', session: id, attempt: 1, bytes: 0 });
  sessions.input(id, Buffer.alloc(100), false);

  await scene.leave('m-1');
  await scene.join('m-1', { executions: [{ session: id, attempt: 1 }] });
  await scene.says('m-1', { is: 'input taken', session: id, attempt: 1, bytes: 40 });
  const before = sessions.inputWaitingBytes(id);
  sessions.input(id, Buffer.alloc(7), false);

  expect([before, sessions.inputWaitingBytes(id)]).toEqual([0, 7]);
});

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

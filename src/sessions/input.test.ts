import { expect, test } from 'vitest';
import type { SessionSpec } from '#core/session.ts';
import { openScene } from './testing/scene.ts';

async function running(spec: Partial<SessionSpec>) {
  const scene = await openScene();
  await scene.pool('gpu');
  await scene.join('m-1');
  const { id } = await scene.submit(spec);
  await scene.says('m-1', { is: 'started', session: id, attempt: 1 });
  scene.sent.length = 0;
  return { ...scene, id };
}

test('passes bytes and window sizes on to the agent', async () => {
  const scene = await running({ terminal: { columns: 80, rows: 24, type: 'xterm' } });

  scene.sessions.input(scene.id, Buffer.from('ls\n'), false);
  scene.sessions.resize(scene.id, 100, 30);

  expect(scene.sent.map(({ command }) => command)).toEqual([
    { do: 'input', session: scene.id, data: Buffer.from('ls\n'), isLast: false },
    { do: 'resize', session: scene.id, columns: 100, rows: 30 },
  ]);
});

test('a session without stdin takes no input, and one without a terminal no size', async () => {
  const closed = await running({});
  const piped = await running({ stdin: true });

  expect(() => closed.sessions.input(closed.id, Buffer.from('x'), true)).toThrow('has no input');
  expect(() => piped.sessions.resize(piped.id, 1, 1)).toThrow('has no terminal');
  expect(() => piped.sessions.input('nobody', Buffer.from('x'), true)).toThrow('No session "nobody" is running.');
});

test('what cannot be passed on is said', async () => {
  const scene = await running({ stdin: true });
  const { id: waiting } = await scene.submit({ stdin: true });
  await scene.leave('m-1');

  expect(() => scene.sessions.input(scene.id, Buffer.from('x'), true)).toThrow(
    'The agent of the session is disconnected.',
  );
  expect(() => scene.sessions.input(waiting, Buffer.from('x'), true)).toThrow('The session has not started yet.');
});

import { expect, test } from 'vitest';
import { CALLER, exited, openScene } from './testing/scene.ts';

async function scene() {
  const opened = await openScene();
  await opened.pool('gpu');
  return opened;
}

test('a waiting session is cancelled at once', async () => {
  const { submit, sessions, disk, store, join, sent } = await scene();
  const { id } = await submit();

  const killed = await sessions.kill(id, false, CALLER);
  await join('m-1');

  expect(killed.end).toMatchObject({ how: 'cancelled' });
  expect(store.view.sessions.size).toBe(0);
  expect(disk.histories.ended).toMatchObject([{ id }]);
  expect(sent).toEqual([]);
  expect(disk.histories.events).toMatchObject([
    { kind: 'session.cancelled', who: 'token:ci', subject: `session/${id}` },
  ]);
});

test('a running session gets SIGTERM, then SIGKILL, and ends as its agent reports', async () => {
  const { submit, sessions, join, sent, says, disk, clock } = await scene();
  await join('m-1');
  const { id } = await submit({ graceMs: 700 });
  await says('m-1', { is: 'started', session: id, attempt: 1 });

  const killed = await sessions.kill(id, false, CALLER);
  await sessions.kill(id, true, CALLER);
  await clock.settle();
  await says('m-1', { ...exited(id), how: 'killed' } as ReturnType<typeof exited>);

  expect(killed).toMatchObject({ kill: { by: 'token:ci', force: false } });
  const kills = sent.map(({ command }) => command).filter((command) => command.do === 'kill');
  expect(kills).toMatchObject([
    { session: id, force: false, graceMs: 700 },
    { session: id, force: true },
  ]);
  expect(disk.histories.ended).toMatchObject([{ id, end: { how: 'killed' } }]);
});

test('what is placed and was never sent is cancelled at once, and is not sent afterwards', async () => {
  const { submit, sessions, join, sent, gate, clock, disk } = await scene();
  const { id } = await submit();
  gate.pause();
  await join('m-1');
  const killing = sessions.kill(id, false, CALLER);
  gate.resume();

  expect((await killing).end).toMatchObject({ how: 'cancelled' });
  await clock.settle();
  expect(sent).toEqual([]);
  expect(disk.histories.ended).toHaveLength(1);
});

test('killing what has ended answers how it ended; killing what never was is a fault', async () => {
  const { submit, sessions, join, says } = await scene();
  await join('m-1');
  const { id } = await submit();
  await says('m-1', exited(id));

  expect((await sessions.kill(id, true, CALLER)).end).toMatchObject({ how: 'exited' });
  await expect(sessions.kill('nobody', true, CALLER)).rejects.toMatchObject({ kind: 'missing' });
});

import { describe, expect, test } from 'vitest';
import type { Session } from '#core/session.ts';
import { append } from '#core/store.ts';
import { going } from '#core/testing/going.ts';
import type { Tunnel, TunnelEnd, TunnelRequest } from '#core/tunnel.ts';
import { CALLER, exited, openRunningSession, openScene, type Scene, specOf } from './testing/scene.ts';
import { tunnelOpener } from './tunnel.ts';

const PORT = { port: 8888 };
const READ = { read: 'out' };
const WRITE = { write: 'in' };

/** Opens tunnels over a link that records what it is asked for. */
function opener({ store }: Scene) {
  const asked: TunnelRequest[] = [];
  const tunnel = {} as Tunnel;
  const link = {
    send: () => true,
    dismiss() {},
    async openTunnel(request: TunnelRequest) {
      asked.push(request);
      return tunnel;
    },
  };
  const open = tunnelOpener({ store, link });
  return { asked, tunnel, open: (session: Session, to: TunnelEnd) => open(session, to, going()) };
}

async function endedSession(): Promise<Scene & { readonly session: Session }> {
  const scene = await openRunningSession();
  await scene.says('m-1', exited(scene.id));
  return { ...scene, session: await scene.sessions.refer(scene.id, CALLER) };
}

describe('a tunnel to a session', () => {
  test('that runs is asked of its agent with the attempt that runs there', async () => {
    const scene = await openRunningSession();
    const session = scene.now(scene.id) as Session;
    const { open, asked, tunnel } = opener(scene);

    for (const to of [PORT, READ, WRITE]) expect(await open(session, to)).toBe(tunnel);

    expect(asked).toEqual([PORT, READ, WRITE].map((to) => ({ agent: 'm-1', session: scene.id, attempt: 1, to })));
  });

  test('that is queued, or placed and not started, is refused with what to wait for', async () => {
    const scene = await openScene();
    await scene.pool('gpu');
    const queued = await scene.submit();
    await scene.join('m-1');
    const placed = scene.now(queued.id) as Session;
    const { open, asked } = opener(scene);

    expect([queued.worker, placed.worker]).toEqual([undefined, 'm-1']);
    for (const session of [queued, placed])
      for (const to of [PORT, READ, WRITE])
        await expect(open(session, to)).rejects.toMatchObject({
          kind: 'unavailable',
          message: `Session ${session.id} has not started yet.`,
          remedy: expect.stringContaining('muster session show'),
        });
    expect(asked).toEqual([]);
  });

  test('that has ended reads its files while its worker is there, and opens no port and writes nothing', async () => {
    const scene = await endedSession();
    const { open, asked } = opener(scene);

    await open(scene.session, READ);

    expect(asked).toEqual([{ agent: 'm-1', session: scene.session.id, attempt: 1, to: READ }]);
    for (const to of [PORT, WRITE])
      await expect(open(scene.session, to)).rejects.toMatchObject({
        kind: 'conflict',
        message: `Session ${scene.session.id} has ended.`,
      });
    expect(asked).toHaveLength(1);
  });

  test('that has ended says since when its files are gone with the machine of its worker', async () => {
    const scene = await endedSession();
    await scene.leave('m-1');
    const endedAt = Date.UTC(2026, 0, 1, 12);
    await scene.store.commit([
      append('endedMachines', {
        id: 'x1',
        use: 'worker',
        owner: 'gpu',
        machine: 'm-1',
        endedAt,
        how: 'removed',
      } as never),
    ]);

    await expect(opener(scene).open(scene.session, READ)).rejects.toMatchObject({ kind: 'unavailable' });
    await scene.gone('m-1');
    await expect(opener(scene).open(scene.session, READ)).rejects.toMatchObject({
      kind: 'missing',
      message: `The files of session ${scene.session.id} are gone since 2026-01-01T12:00:00.000Z: worker m-1 was removed.`,
    });
  });

  test('whose agent is disconnected is refused as one to try again, running or ended', async () => {
    const running = await openRunningSession();
    const ended = await endedSession();
    await running.leave('m-1');
    await ended.leave('m-1');

    for (const [scene, session, to] of [
      [running, running.now(running.id) as Session, PORT],
      [ended, ended.session, READ],
    ] as const)
      await expect(opener(scene).open(session, to)).rejects.toMatchObject({
        kind: 'unavailable',
        message: 'The agent of worker m-1 is disconnected.',
        remedy: expect.stringContaining('muster worker ls'),
      });
  });

  test('that was killed before it ran has no files', async () => {
    const scene = await openScene();
    await scene.pool('gpu');
    const { id } = await scene.submit();
    await scene.sessions.kill(id, false, CALLER);
    await scene.clock.settle();

    await expect(opener(scene).open(await scene.sessions.refer(id, CALLER), READ)).rejects.toMatchObject({
      kind: 'missing',
      message: `Session ${id} never ran, so it has no files.`,
    });
  });

  test('of a count is opened by its place: sweep/3 is the fourth', async () => {
    const scene = await openScene();
    await scene.pool('gpu');
    await scene.join('m-1', { slots: 4 });
    const requests = [0, 1, 2, 3].map((index) => ({
      pool: 'gpu',
      spec: specOf(),
      name: 'sweep',
      part: { index, count: 4 },
    }));
    const sessions = await scene.sessions.submit(requests, CALLER);
    await scene.clock.settle();
    for (const { id } of sessions) await scene.says('m-1', { is: 'started', session: id, attempt: 1 });
    const { open, asked } = opener(scene);

    await open(await scene.sessions.refer('sweep/3', CALLER), PORT);

    expect(asked.map(({ session }) => session)).toEqual([sessions[3]?.id]);
    await expect(scene.sessions.refer('sweep', CALLER)).rejects.toMatchObject({ message: 'sweep names 4 sessions.' });
    await expect(scene.sessions.refer('sweep/4', CALLER)).rejects.toMatchObject({ kind: 'missing' });
  });

  test('is refused by a server whose agents cannot be asked for one', async () => {
    const scene = await openRunningSession();
    const open = tunnelOpener({ store: scene.store, link: { send: () => true, dismiss() {} } });

    await expect(open(scene.now(scene.id) as Session, PORT, going())).rejects.toMatchObject({ kind: 'unsupported' });
  });
});

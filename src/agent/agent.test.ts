import { expect, test } from 'vitest';
import type { AgentReport } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { joined, openScene } from './testing.ts';

const started = (session: string): AgentReport => ({ is: 'started', session, attempt: 1 });
const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1, retries: 0 };

test('the first message tells who it is and what it runs; once in, everything is said again', async () => {
  const { clock, call, welcome, kept, scene, started: starting } = openScene();
  kept.push({ session: 's1', attempt: 2 });
  await starting;
  await clock.settle();

  expect(call().heard[0]).toMatchObject({
    agentIdentity: { agentId: 'a1', hostname: 'h', pool: 'local', ipAddress: '10.0.0.1' },
    slots: 2,
    musterHello: { version: '1', labels: { zone: 'a' }, executions: [{ session: 's1', attempt: 2 }], draining: false },
  });
  expect(scene.replays).toBe(0);
  welcome();

  expect(scene.replays).toBe(1);
});

test('reports of one turn go in one message, commands are carried out in order', async () => {
  const { clock, call, report, handled } = await joined();

  for (const session of ['s1', 's2', 's3']) report(started(session));
  await clock.settle();
  call().command(
    { do: 'start', session: 's1', attempt: 1, spec },
    { do: 'kill', session: 's1', force: false, graceMs: 5 },
  );

  expect(call().heard[1]?.reports.map(({ session }) => session)).toEqual(['s1', 's2', 's3']);
  expect(call().heard).toHaveLength(2);
  expect(handled.map((command) => command.do)).toEqual(['start', 'kill']);
});

test('a quiet agent sends an empty message every half minute, a busy one does not', async () => {
  const { clock, call, report } = await joined();

  await clock.advance(30_000);
  expect(call().heard).toHaveLength(2);
  expect(call().heard[1]).toMatchObject({ reports: [], slots: 0 });
  report(started('s1'));
  await clock.advance(30_000);
  expect(call().heard).toHaveLength(3);
  await clock.advance(30_000);

  expect(call().heard).toHaveLength(4);
});

test('it comes back after a loss, waits longer after each failure, and shortly again once it was in', async () => {
  const { clock, calls, call, welcome, scene } = await joined();
  const nextCallMs = async (): Promise<number> => {
    const before = calls.length;
    let waitedMs = 0;
    for (; calls.length === before; waitedMs += 10) await clock.advance(10);
    return waitedMs;
  };

  const waits: number[] = [];
  for (let failure = 0; failure < 3; failure++) {
    call().end(14);
    waits.push(await nextCallMs());
  }
  welcome();
  call().end(0);
  waits.push(await nextCallMs());
  welcome();

  expect(waits).toEqual([200, 320, 520, 200]);
  expect(scene.replays).toBe(3);
});

test('a broker that does not answer is given up after twenty seconds', async () => {
  const { clock, calls, started: starting } = openScene();
  await starting;

  await clock.advance(19_999);
  expect(calls[0]?.isCancelled).toBe(false);
  await clock.advance(1_000);

  expect(calls[0]?.isCancelled).toBe(true);
  expect(calls).toHaveLength(2);
});

test('an address that does not answer is passed over for the next, and kept once it lets us in', async () => {
  const { clock, calls, call, dialled, scene, welcome, started: starting } = openScene({ addresses: ['a', 'b', 'c'] });
  scene.dead.add('a').add('b');
  await starting;
  await clock.advance(200);

  expect(dialled).toEqual(['a', 'b', 'c']);
  welcome();
  await clock.advance(60 * 60_000);
  expect([dialled.length, calls.length]).toEqual([3, 1]);

  scene.dead.clear();
  call().end(14);
  await clock.advance(200);
  expect(dialled.slice(3)).toEqual(['a']);
});

test('a frozen process, which accepts a connection and never answers, is passed over within 6 s', async () => {
  const { clock, dialled, started: starting } = openScene({ addresses: ['frozen', 'b'] });
  await starting;
  await clock.advance(6_000);
  expect(dialled).toEqual(['frozen', 'b']);

  // When all had their turn, a busy server gets more time.
  await clock.advance(6_000);
  expect(dialled.length).toBe(3);
  await clock.advance(15_000);
  expect(dialled.length).toBe(3);
});

test('a broker of another kind is pinged seldom from the second connection on', async () => {
  const { clock, call, dialledHow, started: starting } = openScene();
  await starting;
  await clock.settle();
  call().say({ serverInfo: { version: '1' } });
  call().end(14);
  await clock.advance(60_000);

  expect(dialledHow.slice(0, 2)).toEqual([{ isForeign: false }, { isForeign: true }]);
});

test('where no address answers, the wait grows with each round, not with each address', async () => {
  const { clock, dialled, scene, started: starting } = openScene({ addresses: ['a', 'b'] });
  scene.dead.add('a').add('b');
  await starting;
  await clock.settle();
  const dialledAt = [clock.monotonic()];
  for (let ms = 0; ms < 2_000; ms += 20) {
    await clock.advance(20);
    while (dialledAt.length < dialled.length) dialledAt.push(clock.monotonic());
  }
  const waits = dialledAt.slice(1, 6).map((ms, at) => ms - (dialledAt[at] as number));

  expect(dialled.slice(0, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  expect(waits).toEqual([100, 200, 100, 320, 100]);
});

test('an address that refuses us is not asked more often because there are others', async () => {
  const { clock, calls, call, dialled, started: starting } = openScene({ addresses: ['a', 'b'] });
  await starting;
  await clock.settle();
  call().end(16, 'Wrong token.');
  await clock.advance(59_000);
  expect(calls).toHaveLength(1);
  await clock.advance(1_000);

  expect(dialled).toEqual(['a', 'b']);
});

test('what cannot even be dialled is tried again', async () => {
  const { clock, calls, scene, started: starting } = openScene();
  scene.dialFault = new Fault('unauthenticated', 'No certificate.');
  await starting;
  await clock.advance(59_000);
  expect(calls).toHaveLength(0);

  scene.dialFault = undefined;
  await clock.advance(1_000);

  expect(calls).toHaveLength(1);
});

test('a call that cannot be opened is tried again, and nothing waits for its answer', async () => {
  const { clock, calls, scene, started: starting } = openScene();
  scene.callFault = new Fault('invalid', 'The join token is no header.');
  await starting;
  await clock.advance(59_000);
  expect(calls).toHaveLength(0);

  scene.callFault = undefined;
  await clock.advance(60_000);

  expect(calls[0]?.heard).toHaveLength(1);
});

test('nonsense from the broker costs the connection, not the agent', async () => {
  const { clock, calls, call } = await joined();

  call().say({
    commands: [{ session: '', what: { case: 'kill', value: {} } }, { what: { case: 'start', value: {} } }],
  });
  expect(call().isCancelled).toBe(false);
  await clock.advance(1_000);

  expect(calls).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { readReports } from '#wire/reports.ts';
import type { AgentEnd } from './agent.ts';
import { joined, openScene } from './testing.ts';

const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1, retries: 0 };
const start = { do: 'start', session: 's1', attempt: 1, spec } as const;

test('cut off for longer than its lease it takes nothing new, finishes, and ends with a message', async () => {
  const { clock, call, scene, kept, finishSessions, end } = await joined({ leaseMs: 60_000 });
  scene.running = 1;
  kept.push({ session: 's1', attempt: 1 });
  const stayAway = async (forMs: number): Promise<void> => {
    for (let passedMs = 0; passedMs < forMs; passedMs += 1_000) {
      call().end(14, 'connection refused');
      await clock.advance(1_000);
    }
  };

  await stayAway(59_000);
  expect(scene.isDraining).toBe(false);
  await stayAway(600_000);
  expect(scene.isDraining).toBe(true);
  expect(scene.killed).toBe(false);
  expect(end()).toBeUndefined();
  finishSessions();
  await clock.advance(11_000);

  expect(end()).toEqual({ exitCode: 9, message: expect.stringContaining('connection refused') });
});

test('one that is refused for its whole lease ends too', async () => {
  const { clock, call, calls, started: starting } = openScene({ leaseMs: 600_000 });
  const agent = await starting;
  let end: AgentEnd | undefined;
  void agent.ended.then((how) => {
    end = how;
  });

  for (let passedMs = 0; passedMs < 660_000; passedMs += 1_000) {
    await clock.advance(1_000);
    call().end(7, 'This token is for another pool.');
  }

  expect(calls.length).toBeLessThan(13);
  expect(end).toEqual({ exitCode: 9, message: expect.stringContaining('another pool') });
});

test('back within its lease it goes on as if nothing had been', async () => {
  const { clock, call, welcome, scene } = await joined();
  call().end(14);
  await clock.advance(59_000);
  welcome(60_000);
  await clock.advance(3_600_000);

  expect(scene.isDraining).toBe(false);
});

test('asked to stop it tells the server first, finishes what runs, waits for the acknowledgement and leaves', async () => {
  const { clock, calls, call, welcome, scene, kept, finishSessions, agent, end } = await joined();
  scene.running = 1;
  kept.push({ session: 's1', attempt: 1 });

  agent.stop();
  await clock.settle();
  expect(calls).toHaveLength(2);
  expect(call().heard[0]?.musterHello?.draining).toBe(true);
  expect(scene.isDraining).toBe(false);
  welcome();
  calls[0]?.end(10);
  await clock.settle();
  expect(scene.isDraining).toBe(true);
  expect(call().isHalfClosed).toBe(false);
  finishSessions();
  await clock.settle();
  expect(call().isHalfClosed).toBe(false);
  call().command({ do: 'ack', session: 's1', attempt: 1, seq: 0, result: true });
  expect(call().isHalfClosed).toBe(true);
  call().end(0);
  await clock.settle();

  expect(end()).toEqual({ exitCode: 0, message: 'Stopped on request.' });
  await clock.advance(60_000);
  expect(calls).toHaveLength(2);
});

test('asked to stop while it is on its way in, it says so as soon as it can', async () => {
  const { clock, calls, call, welcome, scene, started: starting } = openScene();
  scene.running = 1;
  const agent = await starting;
  await clock.settle();

  agent.stop();
  welcome();
  await clock.settle();

  expect(scene.isDraining).toBe(true);
  expect(calls).toHaveLength(2);
  expect(call().heard[0]?.musterHello?.draining).toBe(true);
});

test('a session that comes while it joins anew does not start: the server places it by the list it is about to hear', async () => {
  const { clock, calls, call, welcome, handled, agent } = await joined();
  agent.stop();
  await clock.settle();

  calls[0]?.command(start);
  welcome();
  // Sent before the server heard of the new connection, and overtaken by it.
  calls[0]?.command({ ...start, session: 's2' });
  calls[0]?.end(10);
  await clock.settle();

  expect(call().heard[0]?.musterHello?.executions).toEqual([]);
  expect(handled).toEqual([]);
  expect(call().heard.flatMap(({ reports }) => reports)).toEqual([]);
});

test('such a session is refused where the server does not hear of the new connection, and later ones are taken', async () => {
  const { clock, calls, call, handled, notify } = await joined();
  notify({ why: 'the cloud reclaims its machine', endsAt: 1_800_000_000_000 });
  await clock.settle();

  calls[0]?.command(start);
  call().end(14);
  await clock.settle();
  calls[0]?.command({ ...start, session: 's2' });

  const refusals = calls[0]?.heard.flatMap((said) => readReports(said.reports));
  expect(refusals).toEqual([{ is: 'refused', session: 's1', attempt: 1, why: 'The agent was reconnecting.' }]);
  expect(handled).toMatchObject([{ do: 'start', session: 's2' }]);
});

test('a session that comes before the new first message is made is listed there', async () => {
  const { clock, calls, call, handled, kept, agent } = await joined();

  agent.stop();
  calls[0]?.command(start);
  kept.push({ session: 's1', attempt: 1 });
  await clock.settle();

  expect(handled).toMatchObject([start]);
  expect(call().heard[0]?.musterHello?.executions).toMatchObject([{ session: 's1', attempt: 1 }]);
});

test('a broker of another kind knows no such list: what it sends is always taken', async () => {
  const { clock, calls, call, handled, started: starting } = openScene();
  const agent = await starting;
  await clock.settle();
  call().say({ serverInfo: { version: '1' } });
  agent.stop();
  await clock.settle();

  calls[0]?.say({ sessionRequest: { sessionId: 's1', workload: { command: 'true' } } });

  expect(calls).toHaveLength(2);
  expect(handled).toMatchObject([{ do: 'start', session: 's1' }]);
});

test('asked twice it ends what runs', async () => {
  const { clock, calls, call, welcome, scene, agent, end } = await joined();
  scene.running = 1;

  agent.stop();
  await clock.settle();
  welcome();
  await clock.settle();
  expect(end()).toBeUndefined();
  agent.stop();
  await clock.settle();
  expect(scene.killed).toBe(true);
  call().end(0);
  await clock.settle();

  expect(end()).toEqual({ exitCode: 0, message: 'Stopped on request.' });
  expect(calls).toHaveLength(2);
});

test('results without an acknowledgement keep it for ten seconds, then they stay on disk', async () => {
  const { clock, welcome, kept, agent, end } = await joined();
  kept.push({ session: 's1', attempt: 1 });

  agent.stop();
  await clock.settle();
  welcome();
  await clock.advance(9_999);
  expect(end()).toBeUndefined();
  await clock.advance(2_001);

  expect(end()).toEqual({ exitCode: 0, message: 'Stopped on request.' });
});

test('a server that is away does not keep an idle agent from stopping', async () => {
  const { clock, call, agent, end } = await joined();
  call().end(14);
  await clock.settle();

  agent.stop();
  await clock.settle();

  expect(end()).toEqual({ exitCode: 0, message: 'Stopped on request.' });
});

test('a server that will not hear of the drain does not keep it from stopping', async () => {
  const { clock, call, agent, end } = await joined();

  agent.stop();
  await clock.settle();
  call().end(7, 'It is draining and has no sessions.');
  await clock.advance(2_000);

  expect(end()).toEqual({ exitCode: 0, message: 'Stopped on request.' });
});

test('the server can drain it, and send it away when it is idle', async () => {
  const { clock, calls, call, scene, finishSessions, end } = await joined();
  scene.running = 1;

  call().command({ do: 'drain', stop: false });
  expect(scene.isDraining).toBe(true);
  call().command({ do: 'drain', stop: true });
  await clock.settle();
  expect(end()).toBeUndefined();
  finishSessions();
  await clock.settle();
  expect(call().isHalfClosed).toBe(true);
  call().end(0);
  await clock.settle();

  expect(end()).toEqual({ exitCode: 0, message: 'The server released this worker.' });
  expect(calls).toHaveLength(1);
});

test('with notice that its machine is reclaimed it reports that at once, finishes what runs, and stays', async () => {
  const { clock, call, calls, welcome, notify, scene, kept, end } = await joined();
  scene.running = 1;
  kept.push({ session: 's1', attempt: 1 });

  notify({ why: 'the cloud reclaims its machine (terminate)', endsAt: 1_800_000_000_000 });
  await clock.advance(1_000);
  welcome();
  await clock.advance(60_000);

  expect(calls.length).toBe(2);
  expect(call().heard[0]?.musterHello).toMatchObject({
    draining: true,
    leaving: { why: 'the cloud reclaims its machine (terminate)', endsAtMs: 1_800_000_000_000n },
  });
  expect([scene.isDraining, scene.killed, end()]).toEqual([true, false, undefined]);
});

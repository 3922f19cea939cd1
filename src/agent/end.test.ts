// An agent whose time is over, on the virtual clock.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { AgentEnd } from './agent.ts';
import { END_CODE, joined, openScene } from './testing.ts';

let workDir: string;
beforeEach(() => {
  workDir = mkdtempSync(join(tmpdir(), 'muster-agent-end-'));
});
afterEach(() => rmSync(workDir, { recursive: true, force: true }));

const START = Date.UTC(2026, 0, 1);
const OVER = { exitCode: END_CODE, message: 'The time of this agent is over.' };

test('at its end an idle agent tells the server that it leaves, and exits with the code that it was given', async () => {
  const { clock, calls, call, welcome, scene, end } = await joined({ endsAt: START + HOUR_MS });

  await clock.advance(HOUR_MS - 1);
  expect([scene.isDraining, end()]).toEqual([false, undefined]);
  await clock.advance(1);
  expect(calls).toHaveLength(2);
  expect(call().heard[0]?.musterHello).toMatchObject({
    draining: true,
    leaving: { why: 'its time is over', endsAtMs: BigInt(START + HOUR_MS) },
  });
  welcome();
  calls[0]?.end(10);
  await clock.settle();
  call().end(0);
  await clock.settle();

  expect(end()).toEqual(OVER);
});

test('at its end it ends what runs at once, and waits for the acknowledgement of the results', async () => {
  const { clock, calls, call, welcome, scene, kept, finishSessions, end } = await joined({ endsAt: START + HOUR_MS });
  scene.running = 1;
  kept.push({ session: 's1', attempt: 1 });

  await clock.advance(HOUR_MS);
  expect([scene.ended, scene.killed]).toEqual([true, false]);
  welcome();
  calls[0]?.end(10);
  await clock.settle();
  finishSessions();
  await clock.settle();
  expect(end()).toBeUndefined();
  call().command({ do: 'ack', session: 's1', attempt: 1, seq: 0, result: true });
  call().end(0);
  await clock.settle();

  expect(end()).toEqual(OVER);
});

test('a server that is away does not keep it beyond its end', async () => {
  const { clock, call, scene, kept, finishSessions, end } = await joined({ endsAt: START + MINUTE_MS });
  scene.running = 1;
  kept.push({ session: 's1', attempt: 1 });
  call().end(14);
  await clock.advance(MINUTE_MS);
  expect(scene.ended).toBe(true);
  finishSessions();
  await clock.advance(12 * SECOND_MS);

  expect(end()).toEqual(OVER);
});

test('a session whose processes cannot be ended does not keep it for more than minutes', async () => {
  const { clock, scene, end, call, welcome } = await joined({ endsAt: START + MINUTE_MS });
  scene.running = 1;
  await clock.advance(MINUTE_MS);
  welcome();

  await clock.advance(5 * MINUTE_MS);
  expect(end()).toBeUndefined();
  await clock.advance(30 * SECOND_MS);
  call().end(0);
  await clock.advance(2 * SECOND_MS);

  expect(end()).toEqual(OVER);
});

test('asked to stop before, and still busy at its end, it ends what runs, and the machine with it', async () => {
  const { clock, call, welcome, scene, finishSessions, agent, end } = await joined({ endsAt: START + MINUTE_MS });
  scene.running = 1;
  agent.stop();
  await clock.settle();
  welcome();
  await clock.settle();
  expect(scene.ended).toBe(false);

  await clock.advance(MINUTE_MS);
  expect(scene.ended).toBe(true);
  finishSessions();
  await clock.settle();
  call().end(0);
  await clock.settle();

  expect(end()).toEqual(OVER);
});

test('the server moves its end, and a restarted agent keeps to that', async () => {
  const first = await joined({ endsAt: START + MINUTE_MS, workDir });
  first.call().command({ do: 'end at', at: START + HOUR_MS });
  await first.clock.advance(2 * MINUTE_MS);
  expect([first.scene.isDraining, first.end()]).toEqual([false, undefined]);
  first.agent.stop();
  await first.clock.settle();
  first.call().end(14);
  await first.clock.advance(3 * SECOND_MS);
  expect(await first.agent.ended).toMatchObject({ message: 'Stopped on request.' });

  const next = await joined({ endsAt: START + MINUTE_MS, workDir });
  await next.clock.advance(HOUR_MS - 1);
  expect(next.scene.isDraining).toBe(false);
  await next.clock.advance(1);

  expect(next.call().heard[0]?.musterHello?.draining).toBe(true);
});

test('the server may end it now, or take its end away', async () => {
  const now = await joined({ endsAt: START + HOUR_MS, workDir });
  now.call().command({ do: 'end at', at: START });
  await now.clock.settle();
  expect([now.scene.ended, now.call().heard[0]?.musterHello?.draining]).toEqual([true, true]);

  const never = await joined({ endsAt: START + HOUR_MS });
  never.call().command({ do: 'end at', at: undefined });
  await never.clock.advance(2 * HOUR_MS);
  expect(never.scene.isDraining).toBe(false);
});

async function endOf(scene: ReturnType<typeof openScene>): Promise<() => AgentEnd | undefined> {
  const agent = await scene.started;
  let end: AgentEnd | undefined;
  void agent.ended.then((how) => {
    end = how;
  });
  await scene.clock.settle();
  return () => end;
}

test('started after its end it ends at once: it neither dials nor takes a session', async () => {
  const scene = openScene({ endsAt: START - 1 });
  const end = await endOf(scene);

  expect(end()).toEqual(OVER);
  expect([scene.dialled, scene.scene.isDraining]).toEqual([[], true]);
  await scene.clock.advance(HOUR_MS);
  expect(scene.clock.nextAlarmMs()).toBeUndefined();
});

test('started after its end it first ends the sessions of the agent before it, and reports them', async () => {
  const scene = openScene({ endsAt: START - 1, running: 1 });
  scene.kept.push({ session: 's1', attempt: 1 });
  const end = await endOf(scene);
  expect([scene.scene.ended, end()]).toEqual([true, undefined]);
  expect(scene.call().heard[0]?.musterHello).toMatchObject({ draining: true, executions: [{ session: 's1' }] });

  scene.welcome();
  scene.finishSessions();
  await scene.clock.settle();
  scene.call().command({ do: 'ack', session: 's1', attempt: 1, seq: 0, result: true });
  scene.call().end(0);
  await scene.clock.settle();

  expect(end()).toEqual(OVER);
});

import { expect, test } from 'vitest';
import type { OutputChunk } from '#core/session.ts';
import type { OutputOptions } from './sessions.ts';
import { exited, openRunningSession, output, type RunningScene } from './testing/scene.ts';

/** Reads on as far as it can; `done` once there is no more. */
function reader(scene: RunningScene, options: OutputOptions = { follow: true }) {
  const leaving = new AbortController();
  const seen: string[] = [];
  const state = { seen, leaving, done: false, fault: undefined as unknown };
  const read = async (): Promise<void> => {
    for await (const chunk of scene.sessions.output(scene.id, options, leaving.signal)) seen.push(nameOf(chunk));
  };
  void read().then(
    () => {
      state.done = true;
    },
    (thrown) => {
      state.fault = thrown;
    },
  );
  return state;
}

const nameOf = ({ attempt, seq }: OutputChunk): string => `${attempt}/${seq}`;
const names = (attempt: number, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${attempt}/${index + 1}`);

async function print(scene: RunningScene, from: number, to: number): Promise<void> {
  for (let seq = from; seq <= to; seq++) scene.sessions.report('m-1', output(scene.id, seq, `line ${seq}`));
  await scene.clock.settle();
}

test('reads what is there and ends', async () => {
  const scene = await openRunningSession();
  await print(scene, 1, 150);

  const { seen, ...state } = reader(scene, { follow: false });
  await scene.clock.settle();

  expect(seen).toEqual(names(1, 150));
  expect(state).toMatchObject({ done: false, fault: undefined });
});

test('follows from history into what comes live, without gap or repetition, until the session has ended', async () => {
  const scene = await openRunningSession();
  await print(scene, 1, 100);
  const follower = reader(scene);
  await print(scene, 101, 130);
  await scene.clock.settle();
  await print(scene, 131, 140);
  expect(follower.done).toBe(false);

  await scene.says('m-1', exited(scene.id, 1, 140));

  expect(follower.seen).toEqual(names(1, 140));
  expect(follower.done).toBe(true);
});

test('only durable output is shown', async () => {
  const scene = await openRunningSession();
  const follower = reader(scene);
  await scene.clock.settle();
  scene.gate.pause();

  await print(scene, 1, 3);
  expect(follower.seen).toEqual([]);
  scene.gate.resume();
  await scene.clock.settle();

  expect(follower.seen).toEqual(names(1, 3));
});

test('a reader that falls behind goes back to the history and misses nothing', async () => {
  const scene = await openRunningSession();
  const leaving = new AbortController();
  const slow = scene.sessions.output(scene.id, { follow: true }, leaving.signal)[Symbol.asyncIterator]();
  const first = slow.next();
  await print(scene, 1, 1);
  expect(nameOf((await first).value)).toBe('1/1');

  await print(scene, 2, 1_000);
  await scene.says('m-1', exited(scene.id, 1, 1_000));
  const rest: string[] = [];
  for (let next = await slow.next(); !next.done; next = await slow.next()) rest.push(nameOf(next.value));

  expect(rest).toEqual(names(1, 1_000).slice(1));
});

test('a reader that was behind sees attempts that began and ended meanwhile', async () => {
  const scene = await openRunningSession({ spec: { retries: 1 } });
  const slow = scene.sessions.output(scene.id, { follow: true }, new AbortController().signal)[Symbol.asyncIterator]();
  const first = slow.next();
  await print(scene, 1, 400);
  await first;
  await scene.gone('m-1');
  await scene.join('m-2');
  for (let seq = 1; seq <= 400; seq++) scene.sessions.report('m-2', output(scene.id, seq, 'again', 2));
  await scene.says('m-2', exited(scene.id, 2, 400));

  const rest: string[] = [];
  for (let next = await slow.next(); !next.done; next = await slow.next()) rest.push(nameOf(next.value));

  expect(rest).toEqual([...names(1, 400).slice(1), ...names(2, 400)]);
});

test('output of an earlier attempt that is not durable yet is not passed by', async () => {
  const scene = await openRunningSession({ spec: { retries: 1 } });
  await print(scene, 1, 2);
  await scene.join('m-2');
  scene.gate.pause();
  await print(scene, 3, 4);
  await scene.gone('m-1');
  const follower = reader(scene);
  await scene.clock.settle();
  scene.gate.resume();
  await scene.clock.settle();

  await scene.says('m-2', output(scene.id, 1, 'again', 2));

  expect(follower.seen).toEqual([...names(1, 4), '2/1']);
});

test('goes on after a place that the reader names', async () => {
  const scene = await openRunningSession({ spec: { retries: 1 } });
  await print(scene, 1, 3);
  await scene.gone('m-1');
  await scene.join('m-2');
  for (const seq of [1, 2, 3]) await scene.says('m-2', output(scene.id, seq, 'again', 2));
  await scene.says('m-2', exited(scene.id, 2, 3));

  const first = reader(scene, { follow: true, afterSeq: 2 });
  const second = reader(scene, { follow: true, afterSeq: 2, attempt: 2 });
  await scene.clock.settle();

  expect(first.seen).toEqual(['1/3', ...names(2, 3)]);
  expect(second.seen).toEqual(['2/3']);
  expect(second.done).toBe(true);
});

test('ends when the reader leaves, and says so when the server stops', async () => {
  const scene = await openRunningSession();
  const leaver = reader(scene);
  const stayer = reader(scene);
  await scene.clock.settle();

  leaver.leaving.abort();
  await scene.clock.settle();
  expect(leaver).toMatchObject({ done: true, fault: undefined });

  await scene.sessions.stop();
  await scene.clock.settle();
  expect(stayer.fault).toMatchObject({ kind: 'unavailable' });
});

test('there is no output of a session that does not exist', async () => {
  const scene = await openRunningSession();

  const stranger = reader({ ...scene, id: 'nobody' });
  await scene.clock.settle();

  expect(stranger.fault).toMatchObject({ kind: 'missing' });
});

test('a reader that was behind waits for output of an earlier attempt that is not durable yet', async () => {
  const scene = await openRunningSession({ spec: { retries: 1 } });
  await scene.join('m-2');
  const slow = scene.sessions.output(scene.id, { follow: true }, new AbortController().signal)[Symbol.asyncIterator]();
  const first = slow.next();
  await print(scene, 1, 1);
  await first;
  await print(scene, 2, 400);
  scene.gate.pause();
  await print(scene, 401, 402);
  await scene.gone('m-1');
  const rest: string[] = [];
  const reading = (async () => {
    for (let next = await slow.next(); !next.done; next = await slow.next()) rest.push(nameOf(next.value));
  })();
  await scene.clock.settle();

  scene.gate.resume();
  await scene.clock.settle();
  await scene.says('m-2', output(scene.id, 1, 'again', 2));
  await scene.says('m-2', exited(scene.id, 2, 1));
  await reading;

  expect(rest).toEqual([...names(1, 402).slice(1), '2/1']);
});

test('a tail begins within a piece and goes on with what comes', async () => {
  const scene = await openRunningSession();
  for (const [n, text] of ['a\nb\n', 'c\nd\n'].entries()) scene.sessions.report('m-1', output(scene.id, n + 1, text));
  await scene.clock.settle();
  const read: string[] = [];
  const options = { follow: true, tailLines: 1 };

  void (async () => {
    const never = new AbortController().signal;
    for await (const { data } of scene.sessions.output(scene.id, options, never))
      read.push(Buffer.from(data).toString());
  })();
  await scene.clock.settle();
  scene.sessions.report('m-1', output(scene.id, 3, 'e\n'));
  await scene.clock.settle();

  expect(read).toEqual(['d\n', 'e\n']);
});

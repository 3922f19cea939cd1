import { getEventListeners } from 'node:events';
import { type DescMessage, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { OutputChunk, Session } from '#core/session.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import {
  GetTaskRequestSchema,
  LogTaskRequestSchema,
  LogTaskResponseSchema,
  TaskSchema,
  TaskStatus,
} from '#wire/gen/velda/task_pb.ts';
import { encode } from '#wire/messages.ts';
import { memoryTables } from '../store/view.ts';
import type { AnswerStreamMethod } from './method.ts';
import { taskCalls } from './task-calls.ts';
import { aCaller, anAnswerStream, aSession } from './testing.ts';

const chunk = (seq: number, stream: OutputChunk['stream'], text: string): OutputChunk => ({
  ...{ session: 's1', attempt: 1, seq, stream, at: 0 },
  data: new TextEncoder().encode(text),
});

function aScene(first: Session | undefined, output: readonly OutputChunk[] = []) {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  let session = first;
  const ended = Promise.withResolvers<Session>();
  const token = { isRevoked: false };
  const signals: AbortSignal[] = [];
  if (first?.end) ended.resolve(first);
  const sessions = {
    find: async (id: string) => (id === session?.id ? session : undefined),
    ended: () => ended.promise,
    async *output(_id: string, _options: object, signal: AbortSignal) {
      signals.push(signal);
      yield* output;
      await ended.promise;
    },
    kill: async () => aSession('s1'),
  };
  const authorize = () => {
    if (token.isRevoked) throw new Fault('unauthenticated', 'This token is unknown, expired or revoked.');
    return { who: 'token:test', from: 'test' };
  };
  const calls = taskCalls({ sessions, view: memoryTables(), authorize, clock } as never, stopping.signal);

  async function call<Request extends DescMessage, Answer extends DescMessage>(
    method: string,
    { request, answer }: { request: Request; answer: Answer },
    message: MessageInitShape<Request>,
  ) {
    const ends: (Fault | undefined)[] = [];
    const { call: stream, said } = anAnswerStream(encode(request, message));
    const serve = await (calls[`/velda.TaskService/${method}`] as AnswerStreamMethod).admit(aCaller('10.0.0.1'));
    serve(stream).then(
      () => ends.push(undefined),
      (fault: Fault) => ends.push(fault),
    );
    await clock.settle();
    return { said: () => said.map((bytes) => fromBinary(answer, bytes)), ends };
  }

  return {
    clock,
    stopping,
    token,
    signals,
    watch: () => call('WatchTask', { request: GetTaskRequestSchema, answer: TaskSchema }, { taskId: 's1' }),
    logs: (follow: boolean) =>
      call('Logs', { request: LogTaskRequestSchema, answer: LogTaskResponseSchema }, { taskId: 's1', follow }),
    async change(more: Partial<Session>) {
      session = aSession('s1', more);
      if (session.end) ended.resolve(session);
      await clock.advance(1_000);
    },
  };
}

const exited = (exitCode: number) => ({ at: 9, how: 'exited', exitCode }) as const;

test('a watched task tells each status until its end', async () => {
  const scene = aScene(aSession('s1'));
  const { said, ends } = await scene.watch();
  await scene.change({ worker: 'm', startedAt: 5 });
  await scene.change({ worker: 'm', startedAt: 5, end: exited(0) });

  expect(said().map(({ status }) => status)).toEqual([TaskStatus.QUEUEING, TaskStatus.RUNNING, TaskStatus.SUCCESS]);
  expect(said().at(-1)).toMatchObject({ id: 's1', pool: 'local', batchTaskResult: { exitCode: 0 } });
  expect(ends).toEqual([undefined]);
});

test.each([
  [exited(3), TaskStatus.FAILURE],
  [{ at: 1, how: 'refused', message: 'There is no user ada.' }, TaskStatus.FAILURE],
  [{ at: 1, how: 'cancelled' }, TaskStatus.CANCELLED],
] as const)(
  'a task that was never seen running is shown as running first, so that its follower reads on: %j',
  async (end, status) => {
    const scene = aScene(aSession('s1', { end }));
    const { said } = await scene.watch();

    expect(said().map((task) => task.status)).toEqual([TaskStatus.RUNNING, status]);
  },
);

test('its output is followed to its end, and that ends with an error where the task has failed', async () => {
  const scene = aScene(aSession('s1'), [chunk(1, 'stdout', 'out'), chunk(2, 'stderr', 'err')]);
  const { said, ends } = await scene.logs(true);
  const before = [...ends];
  await scene.change({ end: exited(3) });

  expect(said().map(({ stream, data }) => `${stream} ${new TextDecoder().decode(data)}`)).toEqual(['1 out', '2 err']);
  expect(before).toEqual([]);
  expect(ends).toMatchObject([{ message: expect.stringContaining('exit code 3') }]);
});

test('output of a task that succeeded, or that is only read, ends well', async () => {
  const good = await aScene(aSession('s1', { end: exited(0) })).logs(true);
  const read = await aScene(aSession('s1', { end: exited(3) })).logs(false);

  expect([good.ends, read.ends]).toEqual([[undefined], [undefined]]);
});

test('a stop of the server ends what follows a task at once', async () => {
  const scene = aScene(aSession('s1'));
  const [watch, logs] = [await scene.watch(), await scene.logs(true)];

  scene.stopping.abort();
  await scene.clock.settle();

  expect([watch.ends[0]?.kind, logs.ends[0]?.kind]).toEqual(['unavailable', 'unavailable']);
});

test('a revoked token ends what follows a task within five seconds', async () => {
  const scene = aScene(aSession('s1'), [chunk(1, 'stdout', 'out')]);
  const [watch, logs] = [await scene.watch(), await scene.logs(true)];
  await scene.clock.advance(60_000);
  const before = [...watch.ends, ...logs.ends];

  scene.token.isRevoked = true;
  await scene.clock.advance(5_000);
  const heard = [watch.said(), logs.said()];
  await scene.change({ worker: 'm', startedAt: 5 });

  expect(before).toEqual([]);
  expect([watch.ends[0]?.kind, logs.ends[0]?.kind]).toEqual(['unauthenticated', 'unauthenticated']);
  expect([watch.said(), logs.said()]).toEqual(heard);
});

test('a call that follows output keeps no listener for a piece that was written', async () => {
  const pieces = Array.from({ length: 100 }, (_, at) => chunk(at + 1, 'stdout', 'x'));
  const scene = aScene(aSession('s1'), pieces);
  const { said } = await scene.logs(true);
  const [signal] = scene.signals;

  expect(said()).toHaveLength(100);
  expect(getEventListeners(signal as AbortSignal, 'abort').length).toBeLessThan(5);
});

test('an unknown task is missing', async () => {
  const { ends } = await aScene(undefined).watch();

  expect(ends).toMatchObject([{ kind: 'missing' }]);
});

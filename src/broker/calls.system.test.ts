import { fromBinary } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { aPool } from '#core/testing/pool.ts';
import { untilHolds } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import * as broker from '#wire/gen/velda/broker_pb.ts';
import * as pool from '#wire/gen/velda/pool_pb.ts';
import { ExecutionStatus_Status, ExecutionStatusSchema, SessionRequestSchema } from '#wire/gen/velda/session_pb.ts';
import { GetTaskRequestSchema, TaskSchema } from '#wire/gen/velda/task_pb.ts';
import { encode } from '#wire/messages.ts';
import type { SessionRequest } from '../sessions/sessions.ts';
import type { LaunchFault } from './pool-calls.ts';
import {
  aSession,
  ask,
  clientTo,
  type FakePlane,
  type FakePlaneOptions,
  metadataOf,
  openFakePlane,
} from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const asked: { role: string; token: string | undefined }[] = [];
async function aStage(options: FakePlaneOptions = {}): Promise<{ plane: FakePlane; client: Client }> {
  asked.length = 0;
  const plane = await openFakePlane({
    authorize({ token }, role) {
      asked.push({ role, token });
      if (token !== 'good') throw new Fault('unauthenticated', 'No valid token.');
      return { who: 'token:ci', from: '127.0.0.1' };
    },
    ...options,
  });
  const client = clientTo(plane);
  open.push(plane, client);
  return { plane, client };
}

const headers = { authorization: 'Bearer good' };
const LIST = {
  path: '/velda.BrokerService/ListSessions',
  request: broker.ListSessionsRequestSchema,
  answer: broker.ListSessionsResponseSchema,
  headers,
};
const KILL = {
  path: '/velda.BrokerService/KillSession',
  request: broker.KillSessionRequestSchema,
  answer: EmptySchema,
  headers,
};
const REQUEST = {
  path: '/velda.BrokerService/RequestSession',
  request: SessionRequestSchema,
  answer: ExecutionStatusSchema,
  headers,
};
const POOLS = {
  path: '/velda.PoolManagerService/ListPools',
  request: pool.ListPoolsRequestSchema,
  answer: pool.ListPoolsResponseSchema,
  headers,
};
const POOL = {
  path: '/velda.PoolManagerService/GetPool',
  request: pool.GetPoolRequestSchema,
  answer: pool.GetPoolResponseSchema,
  headers,
};

const describedPool = (name: string) => aPool({}, { name, description: `The ${name}` });

test('sessions are listed with their state', async () => {
  const { plane, client } = await aStage();
  plane.tables.sessions.set('s1', aSession('s1'));
  plane.tables.sessions.set('s2', aSession('s2', { worker: 'gone', startedAt: 1 }));

  const { sessions } = await ask(client, LIST, {});

  expect(sessions.map(({ sessionId, status }) => [sessionId, status])).toEqual([
    ['s1', ExecutionStatus_Status.QUEUEING],
    ['s2', ExecutionStatus_Status.STALE],
  ]);
  expect((await ask(client, LIST, { serviceName: 'ssh' })).sessions).toEqual([]);
  expect(asked[0]).toEqual({ role: 'viewer', token: 'good' });
});

test('no answer shows what is not yet durable', async () => {
  let settle = (): void => {};
  const { plane, client } = await aStage({ durable: () => new Promise<void>((resolve) => (settle = resolve)) });
  plane.tables.pools.set('p1', aPool({}, { name: 'p1', description: `The ${'p1'}` }));

  const answered = vi.fn();
  const answer = ask(client, POOLS, {}).then(answered);
  await untilHolds(() => expect(asked).toHaveLength(1));
  expect(answered).not.toHaveBeenCalled();
  settle();
  await answer;

  expect(answered).toHaveBeenCalled();
});

test('a batch request becomes a session', async () => {
  const submitted: { requests: readonly SessionRequest[]; actor: Actor }[] = [];
  const { client } = await aStage({
    sessions: {
      async submit(requests: readonly SessionRequest[], actor: Actor) {
        submitted.push({ requests, actor });
        return [aSession('s7')];
      },
    } as never,
  });

  const workload = { command: 'make', args: ['all'], environs: ['A=1=2', 'B='], workingDir: '/w', loginUser: 'user' };
  const status = await ask(client, REQUEST, { pool: 'gpu', priority: 5n, labels: ['x'], workload });

  expect(status).toMatchObject({ sessionId: 's7', taskId: 's7', status: ExecutionStatus_Status.QUEUEING });
  expect(submitted).toEqual([
    {
      requests: [
        {
          pool: 'gpu',
          spec: {
            command: ['make', 'all'],
            env: { A: '1=2', B: '' },
            cwd: '/w',
            runAs: { user: 'user' },
            stdin: false,
            priority: 5,
            labels: {},
            graceMs: 10_000,
            retries: 3,
          },
        },
      ],
      actor: { who: 'token:ci', from: '127.0.0.1' },
    },
  ]);
  expect(asked).toEqual([{ role: 'operator', token: 'good' }]);
});

test.each([
  ['a user, whatever its numbers', { loginUser: 'ada', uid: 7 }, { user: 'ada' }],
  ['numbers', { uid: 1000, gid: 100, groups: [4, 5] }, { uid: 1000, gid: 100, groups: [4, 5] }],
  ['nobody', {}, undefined],
])('a batch request that names %s runs under that account', async (_, account, runAs) => {
  const specs: unknown[] = [];
  const { client } = await aStage({
    sessions: {
      async submit([request]: readonly SessionRequest[]) {
        specs.push(request?.spec.runAs);
        return [aSession('s7')];
      },
    } as never,
  });

  // Velda's command line asks for the service `ssh` where its caller names none.
  await ask(client, REQUEST, { pool: 'gpu', serviceName: 'ssh', workload: { command: 'id', ...account } });

  expect(specs).toEqual([runAs]);
});

test.each([
  ['of a service', { pool: 'gpu', serviceName: 'web', workload: { command: 'x' } }, 12, 'service_name'],
  ['of a service of its own', { pool: 'gpu', workload: { command: 'x', serviceName: 'w' } }, 12, 'service_name'],
  ['with a path of its own', { pool: 'gpu', workload: { command: 'x', commandPath: '/x' } }, 12, 'command_path'],
  ['over SSH', { pool: 'gpu' }, 12, 'muster shell'],
  ['without a pool', { workload: { command: 'x' } }, 3, 'pool is required'],
  ['without a command', { pool: 'gpu', workload: {} }, 3, 'command'],
  ['in shards', { pool: 'gpu', workload: { command: 'x', totalShards: 4 } }, 12, 'total_shards'],
  ['on a snapshot', { pool: 'gpu', snapshotName: 's', workload: { command: 'x' } }, 12, 'snapshot_name'],
  ['after others', { pool: 'gpu', dependencies: [{}], workload: { command: 'x' } }, 12, 'dependencies'],
  ['with an absurd priority', { pool: 'gpu', priority: 2n ** 62n, workload: { command: 'x' } }, 3, 'priority'],
])('a request %s is refused in clear words', async (_, request, code, details) => {
  const { client } = await aStage();

  await expect(ask(client, REQUEST, request)).rejects.toMatchObject({
    code,
    details: expect.stringContaining(details),
  });
});

test('a session is killed by its id, and an unknown one is named', async () => {
  const killed: unknown[] = [];
  const { client } = await aStage({
    sessions: {
      async kill(id: string, force: boolean) {
        if (id !== 's1') throw new Fault('missing', `There is no session "${id}".`);
        killed.push([id, force]);
        return aSession(id);
      },
    } as never,
  });

  await ask(client, KILL, { sessionId: 's1', force: true });

  expect(killed).toEqual([['s1', true]]);
  await expect(ask(client, KILL, { sessionId: 's2' })).rejects.toMatchObject({ code: 5 });
  await expect(ask(client, KILL, { serviceName: 'ssh' })).rejects.toMatchObject({ code: 3 });
});

test('pools are listed by name, and one is shown with why it cannot grow', async () => {
  const { plane, client } = await aStage({
    launchFault: (id) => (id === 'id-gpu' ? { message: 'No capacity.', at: 5_000 } : undefined),
  });
  for (const name of ['shell', 'gpu']) plane.tables.pools.set(`id-${name}`, describedPool(name));

  expect((await ask(client, POOLS, {})).pools.map(({ name }) => name)).toEqual(['gpu', 'shell']);
  expect((await ask(client, POOL, { pool: 'gpu' })).pool).toMatchObject({
    name: 'gpu',
    description: 'The gpu',
    autoscalerStatus: { lastAllocationError: 'No capacity.', lastAllocationErrorTime: { seconds: 5n } },
  });
  await expect(ask(client, POOL, { pool: 'x' })).rejects.toMatchObject({
    code: 5,
    details: expect.stringContaining('pool not found: x'),
  });
});

test('a watched pool tells its status at first and when it changes', async () => {
  const clock = new VirtualClock();
  let fault: LaunchFault | undefined;
  const { plane, client } = await aStage({ clock, launchFault: () => fault });
  plane.tables.pools.set('id-gpu', aPool({}, { name: 'gpu', description: `The ${'gpu'}` }));
  const notes: string[] = [];
  const call = client.makeServerStreamRequest(
    '/velda.PoolManagerService/WatchPoolStatus',
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => fromBinary(pool.PoolStatusNotificationSchema, bytes),
    Buffer.from([10, 3, ...Buffer.from('gpu')]),
    metadataOf(headers),
  );
  call.on('data', (note: pool.PoolStatusNotification) => notes.push(note.autoscalerStatus?.lastAllocationError ?? ''));
  const ended = new Promise<{ code: number }>((resolve) => call.on('status', resolve));
  call.on('error', () => {});
  await untilHolds(() => expect(notes).toEqual(['']));

  await clock.advance(4_000);
  fault = { message: 'No capacity.', at: 1 };
  await clock.advance(4_000);
  await untilHolds(() => expect(notes).toEqual(['', 'No capacity.']));
  plane.tables.pools.set('id-gpu', undefined);
  await clock.advance(2_000);

  expect((await ended).code).toBe(5);
});

test('without a token nothing is answered', async () => {
  const { client } = await aStage();

  for (const call of [LIST, KILL, REQUEST, POOLS, POOL]) {
    const bare = { path: call.path, request: call.request, answer: call.answer };
    await expect(ask(client, bare, {})).rejects.toMatchObject({ code: 16 });
  }
});

test.each([
  ['/velda.BrokerService/SetTag', 'muster run --label'],
  ['/velda.TaskService/ListTasks', 'muster session'],
  ['/velda.InstanceService/ListInstances', 'instances'],
  ['/velda.AuthService/Login', '/velda.AuthService/Login'],
])('%s is not served, and says so', async (path, details) => {
  const { client } = await aStage();

  const answer = ask(client, { path, request: EmptySchema, answer: EmptySchema }, {});

  await expect(answer).rejects.toMatchObject({ code: 12, details: expect.stringContaining(details) });
});

test('a stop of the broker ends what follows a task at once', async () => {
  // No deadline comes: only what is ended at once ends.
  const clock = { ...systemClock, alarm: () => () => {} };
  const sessions = { find: async (id: string) => aSession(id), ended: () => new Promise<never>(() => {}) } as never;
  const { plane, client } = await aStage({ clock, sessions });
  const call = client.makeServerStreamRequest(
    '/velda.TaskService/WatchTask',
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => fromBinary(TaskSchema, bytes),
    encode(GetTaskRequestSchema, { taskId: 's1' }),
    metadataOf(headers),
  );
  call.on('error', () => {});
  const ended = new Promise<{ details: string }>((resolve) => call.on('status', resolve));
  await new Promise((resolve) => call.once('data', resolve));

  const stopped = plane.broker.stop();

  expect((await ended).details).toContain('The server is stopping.');
  client.close();
  await stopped;
});

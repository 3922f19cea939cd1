// An agent and a command line that know nothing of our own fields.
import type { Client, ServiceError } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import { untilHolds } from '#core/testing/until.ts';
import { PushLogsRequestSchema } from '#wire/gen/velda/task_pb.ts';
import { encode } from '#wire/messages.ts';
import {
  aSession,
  clientTo,
  type FakeAgent,
  type FakePlane,
  type FakePlaneOptions,
  metadataOf,
  openFakeAgent,
  openFakePlane,
} from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Stage {
  readonly plane: FakePlane;
  readonly client: Client;
  readonly agent: FakeAgent;
}

async function aStage(
  executions: { id: string; tags?: Record<string, string> }[] = [],
  options: FakePlaneOptions = {},
): Promise<Stage> {
  const plane = await openFakePlane(options);
  const client = clientTo(plane);
  const agent = openFakeAgent(client);
  open.push(plane, agent);
  agent.say({
    agentIdentity: { agentId: 'v1', hostname: 'v1', pool: 'shell' },
    slots: 1,
    currentExecutions: executions.map(({ id, tags = {} }) => ({ request: { sessionId: id, instanceId: 1n, tags } })),
  });
  await untilHolds(() => expect(agent.answers).toHaveLength(1));
  return { plane, client, agent };
}

const spec = { ...aSession('x').spec, command: ['sh', '-c', 'true'], env: { A: '1' }, cwd: '/w' };
const ref = (sessionId: string) => ({ sessionId, instanceId: 1n });
const heard = (plane: FakePlane) => plane.reports.map(({ report }) => report);

function pushLogs(client: Client, headers: Record<string, string> = {}) {
  let settle: (outcome: ServiceError | null) => void = () => {};
  const over = new Promise<ServiceError | null>((resolve) => (settle = resolve));
  const call = client.makeClientStreamRequest(
    '/velda.TaskLogService/PushLogs',
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => bytes,
    metadataOf(headers),
    (error) => settle(error),
  );
  call.on('error', () => {});
  const say = (taskId: string, stream: 1 | 2, text: string): unknown =>
    call.write(encode(PushLogsRequestSchema, { taskId, stream, data: new TextEncoder().encode(text) }));
  return {
    say,
    end: () => call.end(),
    outcome: over.then((error) => error?.code),
    /** The server's words, not those of a lost connection. */
    why: over.then((error) => error?.details),
  };
}

test('it is greeted without our own fields, and its executions carry their attempt', async () => {
  const { plane, agent } = await aStage([{ id: 's1', tags: { 'muster-attempt': '3' } }, { id: 's2' }]);

  expect(agent.answers[0]).toMatchObject({ serverInfo: { version: '0.0.0-test' } });
  expect(agent.answers[0]?.musterServer).toBeUndefined();
  expect(plane.hellos[0]?.hello).toMatchObject({ wire: 'velda', slots: 1, address: '127.0.0.1', version: '' });
  expect(plane.joined[0]?.executions).toEqual([
    { session: 's1', attempt: 3 },
    { session: 's2', attempt: 1 },
  ]);
});

test('a session is asked for in one message, runs, and its end carries output and exit code', async () => {
  const { plane, client, agent } = await aStage();
  plane.tables.sessions.set('s1', aSession('s1', { worker: 'v1', attempt: 2 }));

  plane.link.send('v1', { do: 'start', session: 's1', attempt: 2, spec });
  await untilHolds(() => expect(agent.answers).toHaveLength(2));
  expect(agent.answers[1]?.sessionRequest).toMatchObject({
    sessionId: 's1',
    instanceId: 1n,
    taskId: 's1',
    tags: { 'muster-attempt': '2' },
    workload: { command: 'sh', args: ['-c', 'true'], workingDir: '/w', environs: ['A=1'] },
  });
  expect(agent.answers[1]?.commands).toEqual([]);
  agent.say({ sessionInitResponse: { ...ref('s1'), success: true, port: 2222 } });
  const logs = pushLogs(client, { 'velda-session': '1:s1:s1' });
  logs.say('s1', 1, 'out');
  logs.say('s1', 2, 'err');
  logs.end();
  expect(await logs.outcome).toBeUndefined();
  agent.say({ sessionCompletion: { ...ref('s1'), batchTaskResult: { exitCode: 0 } } });
  await untilHolds(() => expect(plane.reports).toHaveLength(4));

  const head = { session: 's1', attempt: 2 };
  expect(heard(plane)).toEqual([
    { is: 'started', ...head },
    { is: 'output', ...head, seq: 1, stream: 'stdout', data: new TextEncoder().encode('out') },
    { is: 'output', ...head, seq: 2, stream: 'stderr', data: new TextEncoder().encode('err') },
    { is: 'ended', ...head, lastSeq: 2, how: 'exited', exitCode: 0 },
  ]);
});

test.each([
  [{ user: 'ada' }, { loginUser: 'ada' }],
  [
    { uid: 1000, gid: 100, groups: [4] },
    { loginUser: '', uid: 1000, gid: 100, groups: [4] },
  ],
])('a session that runs as %j says so to the agent', async (runAs, workload) => {
  const { plane, agent } = await aStage();

  plane.link.send('v1', { do: 'start', session: 's1', attempt: 1, spec: { ...spec, runAs } });

  await untilHolds(() => expect(agent.answers[1]?.sessionRequest?.workload).toMatchObject(workload));
});

test('the end waits for output that is still on its way', async () => {
  const { plane, client, agent } = await aStage([{ id: 's1' }]);
  plane.tables.sessions.set('s1', aSession('s1', { worker: 'v1' }));
  const logs = pushLogs(client);
  logs.say('s1', 1, 'early');
  await untilHolds(() => expect(plane.reports).toHaveLength(1));

  agent.say({ sessionCompletion: { ...ref('s1'), batchTaskResult: { exitCode: 0 } } });
  logs.say('s1', 1, 'late');
  logs.end();
  await untilHolds(() => expect(plane.reports).toHaveLength(3));

  expect(heard(plane).map((report) => report.is)).toEqual(['output', 'output', 'ended']);
  expect(heard(plane)[2]).toMatchObject({ lastSeq: 2 });
});

test.each([
  ['an exit code', { exitCode: 7 }, false, { how: 'exited', exitCode: 7 }],
  ['a signal', { terminatedSignal: 15 }, false, { how: 'signalled', signal: 'SIGTERM', exitCode: 143 }],
  ['an empty result after a kill', {}, true, { how: 'killed' }],
  ['an empty result out of nowhere', {}, false, { how: 'lost' }],
  ['an exit code that came before the kill', { exitCode: 0 }, true, { how: 'exited', exitCode: 0 }],
])('%s is understood', async (_, batchTaskResult, isKilled, expected) => {
  const { plane, agent } = await aStage([{ id: 's1' }]);
  if (isKilled) {
    plane.link.send('v1', { do: 'kill', session: 's1', force: false, graceMs: 1 });
    await untilHolds(() => expect(agent.answers[1]?.killSessionRequest).toMatchObject({ ...ref('s1'), force: true }));
  }

  agent.say({ sessionCompletion: { ...ref('s1'), batchTaskResult } });
  await untilHolds(() => expect(plane.reports).toHaveLength(1));

  expect(heard(plane)[0]).toMatchObject({ is: 'ended', session: 's1', attempt: 1, lastSeq: 0, ...expected });
});

test('a failed start and what such an agent cannot do are refusals', async () => {
  const { plane, agent } = await aStage();

  plane.link.send('v1', { do: 'start', session: 's1', attempt: 4, spec });
  await untilHolds(() => expect(agent.answers).toHaveLength(2));
  agent.say({ sessionInitResponse: ref('s1') });
  plane.link.send('v1', { do: 'start', session: 's2', attempt: 1, spec: { ...spec, stdin: true } });
  await untilHolds(() => expect(plane.reports).toHaveLength(2));

  expect(heard(plane)).toContainEqual({ is: 'refused', session: 's1', attempt: 4, why: expect.any(String) });
  expect(heard(plane)).toContainEqual({
    is: 'refused',
    session: 's2',
    attempt: 1,
    why: expect.stringContaining('Velda'),
    forGood: 'here',
  });
  expect(agent.answers).toHaveLength(2);
});

test.each([
  ['of an unknown session', 's9', {}, { s1: 'v1' }],
  ['with a path for a name', '../../etc/passwd', {}, { s1: 'v1' }],
  ['of a session elsewhere', 's1', {}, { s1: 'other' }],
  ['under another name than the header says', 's1', { 'velda-session': '1:s2:s2' }, { s1: 'v1' }],
])('output %s is refused', async (_, task, headers, placed) => {
  const { plane, client } = await aStage();
  for (const [id, worker] of Object.entries(placed)) plane.tables.sessions.set(id, aSession(id, { worker }));

  const logs = pushLogs(client, headers);
  logs.say(task, 1, 'x');

  expect(await logs.outcome).toBe(7);
  expect(plane.reports).toEqual([]);
});

test('output may not change its task on the way', async () => {
  const { plane, client } = await aStage();
  for (const id of ['s1', 's2']) plane.tables.sessions.set(id, aSession(id, { worker: 'v1' }));

  const logs = pushLogs(client);
  logs.say('s1', 1, 'x');
  logs.say('s2', 1, 'y');

  expect(await logs.outcome).toBe(3);
  expect(plane.reports).toHaveLength(1);
});

test('a stop ends open log calls at once', async () => {
  // No deadline comes: only what is ended at once ends.
  const clock: Clock = { ...systemClock, alarm: () => () => {} };
  const { plane, client } = await aStage([{ id: 's1' }], { clock });
  plane.tables.sessions.set('s1', aSession('s1', { worker: 'v1' }));
  const logs = pushLogs(client);
  logs.say('s1', 1, 'x');
  await untilHolds(() => expect(plane.reports).toHaveLength(1));

  const stopped = plane.broker.stop();

  expect([await logs.outcome, await logs.why]).toEqual([14, expect.stringContaining('The server is stopping.')]);
  client.close();
  await stopped;
});

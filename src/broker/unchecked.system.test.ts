// What callers without valid credentials can make the server keep, decode or wait for.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { untilHolds } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import { encode } from '#wire/messages.ts';
import { clientTo, type FakePlane, type FakePlaneOptions, openFakeAgent, openFakePlane } from './testing.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function aPlane(options: FakePlaneOptions = {}): Promise<FakePlane> {
  const plane = await openFakePlane({
    authorize({ token }) {
      if (token !== 'good') throw new Fault('unauthenticated', 'No valid token.');
      return { who: 'token:ci', from: '127.0.0.1' };
    },
    ...options,
  });
  open.push(plane);
  return plane;
}

function aSession({ port }: FakePlane): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  open.push({ close: () => session.destroy() });
  return session;
}

interface Call {
  readonly stream: ClientHttp2Stream;
  readonly status: Promise<string>;
  readonly message: Promise<string>;
}

function call(session: ClientHttp2Session, path: string, token?: string): Call {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  stream.on('error', () => {});
  const ended = new Promise<IncomingHttpHeaders>((resolve) => {
    const look = (headers: IncomingHttpHeaders): void => {
      if (headers['grpc-status'] !== undefined) resolve(headers);
    };
    stream.on('response', look).on('trailers', look);
  });
  stream.resume();
  const status = ended.then((headers) => String(headers['grpc-status']));
  return { stream, status, message: ended.then((headers) => decodeURI(String(headers['grpc-message']))) };
}

/** The head of a message that says how long it is; what follows may never come. */
function headOf(bytes: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes, 1);
  return head;
}

const framed = (bytes: Uint8Array): Buffer => Buffer.concat([headOf(bytes.length), bytes]);

const MB = 1024 * 1024;
const AGENT = '/velda.BrokerService/AgentUpdate';
const UNARY = [
  '/velda.BrokerService/RequestSession',
  '/velda.BrokerService/KillSession',
  '/velda.BrokerService/ListSessions',
  '/velda.PoolManagerService/ListPools',
  '/velda.PoolManagerService/GetPool',
  '/velda.PoolManagerService/WatchPoolStatus',
];

test.each(UNARY)('%s is refused by its token, before any of the message has come', async (path) => {
  const { status } = call(aSession(await aPlane()), path);

  expect(await status).toBe('16');
});

test.each(['/velda.TaskService/RunTask', '/velda.BrokerService/SetTag'])(
  '%s is refused before any of the message has come',
  async (path) => {
    const { status } = call(aSession(await aPlane()), path);

    expect(await status).toBe('12');
  },
);

test('output is refused from where no agent is connected, before any of it has come', async () => {
  const { status } = call(aSession(await aPlane()), '/velda.TaskLogService/PushLogs');

  expect(await status).toBe('7');
});

// Only Linux has all of 127.0.0.0/8.
test.skipIf(process.platform !== 'linux')(
  'output is refused from another address than that of a connected agent, before any of it has come (needs Linux)',
  async () => {
    const plane = await aPlane();
    const agent = openFakeAgent(clientTo(plane));
    open.push(agent);
    agent.say({ agentIdentity: { agentId: 'v1', hostname: 'v1', pool: 'shell' }, slots: 1 });
    await untilHolds(() => expect(agent.answers).toHaveLength(1));
    const elsewhere = connect(`http://127.0.0.1:${plane.port}`, {
      createConnection: () => connectTcp({ port: plane.port, host: '127.0.0.1', localAddress: '127.0.0.2' }),
    });
    open.push({ close: () => elsewhere.destroy() });

    const { stream, status } = call(elsewhere, '/velda.TaskLogService/PushLogs');
    stream.write(headOf(2 * 2 ** 20));

    expect(await status).toBe('7');
  },
);

/** How many of these calls are refused with that status; the others stay open. */
async function refusedOf(calls: readonly Call[], session: ClientHttp2Session): Promise<number> {
  let refused = 0;
  for (const { status } of calls) void status.then((code) => (refused += Number(code === '8')));
  // Whatever is answered later on the same connection is answered after the refusals were heard.
  await call(session, '/velda.TaskService/RunTask').status;
  return refused;
}

test('32 calls of an address that show no credential are open at a time, and further ones are refused', async () => {
  const plane = await aPlane();
  const session = aSession(plane);
  const calls = Array.from({ length: 40 }, () => call(session, AGENT));
  expect(await refusedOf(calls, session)).toBe(8);
  expect(await calls.at(-1)?.message).toContain('Try again');

  const known = Array.from({ length: 40 }, () => call(session, AGENT, 'good'));
  expect(await refusedOf(known, session)).toBe(0);
  for (const { stream } of calls) stream.close();
  await untilHolds(async () => {
    const next = call(session, AGENT);
    expect(await refusedOf([next], session)).toBe(0);
  });
});

test('a connection with a hundred refused calls and none of a known caller is closed', async () => {
  const plane = await aPlane();
  const [stranger, known] = [aSession(plane), aSession(plane)];
  const list = call(known, '/velda.PoolManagerService/ListPools', 'good');
  list.stream.end(framed(new Uint8Array()));
  expect(await list.status).toBe('0');
  const closed = new Promise((resolve) => stranger.once('close', resolve));

  for (let at = 0; at < 100; at++) await call(stranger, '/velda.BrokerService/RequestSession').status;
  void call(stranger, '/velda.BrokerService/RequestSession').status;
  await closed;

  for (let at = 0; at < 101; at++) await call(known, '/velda.BrokerService/RequestSession').status;
  expect(known.closed).toBe(false);
});

test('an agent that has joined leaves its place to the next that shows no credential', async () => {
  const plane = await aPlane();
  const session = aSession(plane);
  const hello = (agentId: string) =>
    framed(encode(AgentUpdateRequestSchema, { agentIdentity: { agentId, pool: 'p' } }));

  for (let at = 0; at < 100; at++) {
    const { stream } = call(session, AGENT);
    const isIn = new Promise((resolve) => stream.once('data', resolve));
    stream.write(hello(`a${at}`));
    await isIn;
  }

  expect(plane.broker.connectedAgents).toBe(100);
});

test('of calls from the address of an agent that name no session, no more than 32 can send a long message', async () => {
  const plane = await aPlane();
  const agent = openFakeAgent(clientTo(plane));
  open.push(agent);
  agent.say({ agentIdentity: { agentId: 'v1', hostname: 'v1', pool: 'shell' }, slots: 1 });
  await untilHolds(() => expect(agent.answers).toHaveLength(1));
  const sessions = [aSession(plane), aSession(plane)];
  const calls = sessions.flatMap((session) =>
    Array.from({ length: 100 }, () => call(session, '/velda.TaskLogService/PushLogs')),
  );
  for (const { stream } of calls) stream.write(headOf(4 * MB));

  let refused = 0;
  for (const { status } of calls) void status.then((code) => (refused += Number(code === '8')));
  await untilHolds(() => expect(refused).toBe(168));
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('400 unfinished first messages of unknown agents keep little memory', async () => {
  const plane = await aPlane();
  const before = process.memoryUsage().arrayBuffers;
  const piece = Buffer.alloc(64 * 1024 - 1_024);
  const calls = Array.from({ length: 4 }, () => aSession(plane)).flatMap((session) =>
    Array.from({ length: 100 }, () => call(session, AGENT)),
  );

  await Promise.all(
    calls.map(({ stream }) => new Promise((taken) => stream.write(Buffer.concat([headOf(64 * 1024), piece]), taken))),
  );

  // What is kept, without the garbage of its way; the callers' side of it is in this process too.
  await untilHolds(() => {
    collectGarbage();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3 * 400 * 64 * 1024);
  });
});

test('a caller with a token may send long messages', async () => {
  const session = aSession(await aPlane());
  const list = call(session, '/velda.PoolManagerService/ListPools', 'good');
  const agent = call(session, AGENT, 'good');
  const hello = Buffer.concat([Buffer.from([10, 8, 10, 1, 97, 26, 3, 112, 112, 112]), Buffer.from([0xc2, 0x3e, 0])]);

  list.stream.end(framed(new Uint8Array()));
  agent.stream.write(framed(hello));
  agent.stream.end(headOf(4 * MB + 1));

  expect(await list.status).toBe('0');
  expect(await agent.status).toBe('8');
});

test('a message of 4 MB that would decode to millions of objects is refused', async () => {
  const session = aSession(await aPlane());
  const { stream, message } = call(session, AGENT, 'good');
  const tag = AgentUpdateRequestSchema.field.currentExecutions.number * 8 + 2;

  stream.end(framed(Buffer.alloc(4 * MB).fill(Buffer.from([tag, 0]))));

  expect(await message).toContain('more than 50000 fields');
});

test('a call whose request does not come ends by itself', async () => {
  const clock = new VirtualClock();
  let isOpen = false;
  const authorize = () => {
    isOpen = true;
    return { who: 'token:ci', from: '127.0.0.1' };
  };
  const plane = await aPlane({ clock, authorize });
  const { stream, status } = call(aSession(plane), '/velda.PoolManagerService/ListPools', 'good');
  stream.write(headOf(100));
  await untilHolds(() => expect(isOpen).toBe(true));

  await clock.advance(60_000);

  expect(await status).toBe('3');
});

test('calls that one connection opens at once leave others a turn between them', async () => {
  let nowMs = 0;
  let turn = 0;
  const startedIn: number[] = [];
  const plane = await aPlane({
    // Each look at the clock takes longer than a share of a turn.
    clock: {
      ...systemClock,
      monotonic: () => (nowMs += 10),
      soon(run) {
        systemClock.soon(() => {
          turn += 1;
          run();
        });
      },
    },
    authorize() {
      startedIn.push(turn);
      throw new Fault('unauthenticated', 'No valid token.');
    },
  });
  const session = aSession(plane);

  const calls = Array.from({ length: 20 }, () => call(session, '/velda.BrokerService/RequestSession'));

  for (const { status } of calls) expect(await status).toBe('16');
  expect(new Set(startedIn).size).toBe(calls.length);
});

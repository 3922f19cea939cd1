// Whatever comes in over the wire is answered with a clear status; nothing crashes and nothing half happens.

import { connect, constants } from 'node:http2';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import { encode } from '#wire/messages.ts';
import { clientTo, type FakePlane, metadataOf, openFakeAgent, openFakePlane } from './testing.ts';

type First = MessageInitShape<typeof AgentUpdateRequestSchema>;

let plane: FakePlane;
let client: Client;
beforeAll(async () => {
  plane = await openFakePlane();
  client = clientTo(plane);
});
afterAll(async () => {
  client.close();
  await plane.close();
});

const CLEAR = new Set([0, 3, 5, 7, 8, 12, 16]);

async function endOfStream(messages: readonly Uint8Array[]): Promise<{ code: number; details: string }> {
  // Each has a connection of its own: one that is refused too often is closed.
  const agent = openFakeAgent(clientTo(plane));
  for (const bytes of messages) agent.sayBytes(bytes);
  agent.call.end();
  const end = await agent.ended;
  agent.close();
  return end;
}

function callWith(path: string, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve) => {
    const call = client.makeBidiStreamRequest(
      path,
      (message: Uint8Array) => Buffer.from(message),
      (message) => message,
      metadataOf({}),
    );
    call.on('error', () => {});
    call.on('data', () => {});
    call.on('status', ({ code }) => resolve(code));
    call.write(bytes);
    call.end();
  });
}

test('random bytes as first message get a clear status', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      const { code, details } = await endOfStream([bytes]);

      expect(CLEAR).toContain(code);
      if (code !== 0) expect(details).not.toBe('');
    }),
    { numRuns: 150 },
  );
});

test('random bytes after a good first message end only that stream', async () => {
  const first = encode(AgentUpdateRequestSchema, { agentIdentity: { agentId: 'a', pool: 'p' }, musterHello: {} });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
      expect(CLEAR).toContain((await endOfStream([first, bytes])).code);
    }),
    { numRuns: 50 },
  );
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('', '\0', '../..', '__proto__', 'a'.repeat(70_000)),
);
const int32 = fc.oneof(fc.integer(), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, 0));
const uint32 = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32 - 1));
const report = fc.record({
  session: text,
  attempt: uint32,
  what: fc.oneof(
    fc.constant({ case: undefined }),
    fc.record({ case: fc.constant('started' as const), value: fc.constant({}) }),
    fc.record({ case: fc.constant('refused' as const), value: fc.record({ why: text }) }),
    fc.record({
      case: fc.constant('output' as const),
      value: fc.record({ seq: uint32, stream: int32, data: fc.uint8Array() as fc.Arbitrary<Uint8Array<ArrayBuffer>> }),
    }),
    fc.record({
      case: fc.constant('ended' as const),
      value: fc.record({ lastSeq: uint32, how: int32, exitCode: int32, signal: text, message: text }),
    }),
  ),
});
const absurd = fc.record(
  {
    agentIdentity: fc.record({ agentId: text, hostname: text, pool: text, ipAddress: text }),
    sessionInitResponse: fc.record({ sessionId: text, success: fc.boolean(), port: int32 }),
    sessionCompletion: fc.record({
      sessionId: text,
      batchTaskResult: fc.record({ exitCode: int32, terminatedSignal: int32 }),
    }),
    currentExecutions: fc.array(
      fc.record({ request: fc.record({ sessionId: text, tags: fc.dictionary(text, text) }) }),
    ),
    slots: int32,
    musterHello: fc.record({
      version: text,
      labels: fc.dictionary(text, text),
      executions: fc.array(fc.record({ session: text, attempt: uint32 })),
    }),
    reports: fc.array(report, { maxLength: 5 }),
  },
  { requiredKeys: [] },
);

test('valid but absurd messages get a clear status, and what is let in is tame', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(absurd, { minLength: 1, maxLength: 3 }), async (messages) => {
      const said = messages.map((message) => encode(AgentUpdateRequestSchema, message as unknown as First));
      expect(CLEAR).toContain((await endOfStream(said)).code);
    }),
    { numRuns: 120 },
  );

  const kept = JSON.stringify([
    plane.hellos,
    plane.joined,
    plane.reports.map(({ report: said }) => ({ ...said, data: '' })),
  ]);
  expect(kept).not.toContain('\\u0000');
  for (const { hello } of plane.hellos) {
    expect(hello.name).toMatch(/^.{1,253}$/u);
    expect(hello.slots).toBeGreaterThan(0);
    expect(hello.slots).toBeLessThanOrEqual(10_000);
  }
});

test('every other call answers random bytes with a clear status', async () => {
  const paths = [
    '/velda.BrokerService/RequestSession',
    '/velda.BrokerService/KillSession',
    '/velda.BrokerService/ListSessions',
    '/velda.BrokerService/SetTag',
    '/velda.PoolManagerService/GetPool',
    '/velda.PoolManagerService/ListPools',
    '/velda.TaskLogService/PushLogs',
    '/velda.TaskService/Logs',
    '/no.such.Service/Method',
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), fc.uint8Array({ maxLength: 200 }), async (path, bytes) => {
      expect(CLEAR).toContain(await callWith(path, bytes));
    }),
    { numRuns: 100 },
  );
});

test('a message over the limit is refused before it is read', async () => {
  const { code } = await endOfStream([new Uint8Array(4 * 1024 * 1024 + 1)]);

  expect(code).toBe(8);
});

/** A message as it stands in a stream: not compressed, its length, itself. */
function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

test('thousands of messages in one piece are all heard, in order', async () => {
  const first = { agentIdentity: { agentId: 'chatty', pool: 'p' }, musterHello: {} };
  const hello = encode(AgentUpdateRequestSchema, first);
  const session = connect(`http://127.0.0.1:${plane.port}`);
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: '/velda.BrokerService/AgentUpdate',
    [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
  });
  const status = new Promise((resolve) => stream.once('trailers', (trailers) => resolve(trailers['grpc-status'])));
  const empty = framed(new Uint8Array());
  const nonsense = framed(Uint8Array.of(0xff));

  stream.resume().end(Buffer.concat([framed(hello), ...Array(12_000).fill(empty), nonsense]));

  expect(await status).toBe('3');
  session.close();
});

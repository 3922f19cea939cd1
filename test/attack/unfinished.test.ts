// Calls that are never finished, or larger than any should be, over HTTP and gRPC: the server keeps little of them, and
// others go on meanwhile.
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, beforeAll, test } from 'vitest';
import { breach, type OtherCaller, openTarget, say, type Target } from './target.ts';

let target: Target;
beforeAll(async () => {
  target = await openTarget();
});
afterAll(() => target?.close());

const MB = 2 ** 20;
const TURNS = 100;

/** Until the server reads no more of it: many turns of the server have passed, and nothing more left the attacker. */
async function untilTaken(other: OtherCaller, sockets: readonly { readonly bytesWritten: number }[]): Promise<void> {
  for (let before = -1; ; ) {
    await other.answered(TURNS);
    const sent = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    if (sent === before) return;
    before = sent;
  }
}

function mustHaveTaken(what: string, before: number, mostMb: number): void {
  const taken = target.memoryMb() - before;
  say(`${what}: ${taken.toFixed(0)} MB more`);
  if (taken > mostMb) breach(`${what} took ${taken.toFixed(0)} MB`);
}

function headOf(bytes: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes, 1);
  return head;
}

test.each([
  '/velda.BrokerService/AgentUpdate',
  '/velda.BrokerService/RequestSession',
  '/velda.TaskLogService/PushLogs',
])('4 connections with 100 unfinished calls of 4 MB each to %s', async (path) => {
  const before = target.memoryMb();
  const piece = Buffer.concat([headOf(4 * MB), Buffer.alloc(4 * MB - 1_000)]);
  await target.whileOthersAsk(`unfinished ${path}`, async (other) => {
    const sessions = Array.from({ length: 4 }, () => connectHttp2(`http://127.0.0.1:${target.grpc}`));
    for (const session of sessions) {
      session.on('error', () => {});
      for (let at = 0; at < 100; at++) {
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
        stream.on('error', () => {}).resume();
        stream.write(piece);
      }
    }
    await untilTaken(
      other,
      sessions.map(({ socket }) => socket),
    );
    mustHaveTaken(path, before, 300);
    for (const session of sessions) session.destroy();
  });
  target.mustBeSound();
});

test('a message of 4 MB of millions of fields, with a token that lets it in', async () => {
  const fields = Buffer.alloc(4 * MB - 10).fill(Buffer.from([0x9a, 0x01, 0x00, 0x9a]));
  await target.whileOthersAsk('millions of fields', async () => {
    const session = connectHttp2(`http://127.0.0.1:${target.grpc}`);
    session.on('error', () => {});
    for (let at = 0; at < 20; at++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/velda.BrokerService/RequestSession',
        'content-type': 'application/grpc',
        authorization: `Bearer ${target.token('operator')}`,
      });
      stream.on('error', () => {}).resume();
      stream.end(Buffer.concat([headOf(fields.length), fields]));
      await new Promise((resolve) => stream.once('close', resolve));
    }
    session.destroy();
  });
  target.mustBeSound();
});

test('500 requests over HTTP whose heads or bodies never end', async () => {
  const before = target.memoryMb();
  const heads = [
    'GET / HTTP/1.1\r\nhost: a\r\nx: ',
    `POST /api/v1/pools HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${MB}\r\n\r\n`,
    `POST /api/v1/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${target.token('operator')}\r\ncontent-type: application/json\r\ncontent-length: ${MB}\r\n\r\n[`,
  ];
  await target.whileOthersAsk('unfinished requests', async (other) => {
    const sockets = Array.from({ length: 500 }, (_, at) => {
      const socket = connect(target.http, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(heads[at % heads.length] ?? '');
      return socket;
    });
    await untilTaken(other, sockets);
    mustHaveTaken('500 unfinished requests', before, 200);
    for (const socket of sockets) socket.destroy();
  });
  target.mustBeSound();
});

const bracketed = JSON.stringify({
  documents: Array.from({ length: 31 }, (_, at) => ({ key: `d${at}`, text: '['.repeat(255 * 1_024) })),
});
const names = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`N${at}`, ''])));

test.each([
  ['a viewer plans 31 documents of 255 KB of brackets', 'viewer', '/plans', () => bracketed],
  [
    'an operator sends 400,000 names in env',
    'operator',
    '/sessions',
    () => `{"pool":"manual","command":["a"],"env":${names(400_000)}}`,
  ],
  ['an operator sends 16 MB of brackets', 'operator', '/sessions', () => '['.repeat(16 * MB - 1)],
  ['an operator sends 5 million empty lists', 'operator', '/sessions', () => `[${'[],'.repeat(5_000_000)}[]]`],
  ['a viewer sends 100,000 unknown keys', 'viewer', '/plans', () => names(100_000)],
] as const)('%s', async (what, caller, path, body) => {
  const text = body();
  const { status } = await target.whileOthersAsk(what, () =>
    target.send({
      method: 'POST',
      path: `/api/v1${path}`,
      headers: { authorization: `Bearer ${target.token(caller)}`, 'content-type': 'application/json' },
      body: text,
    }),
  );
  say(`answered ${status}`);
  if (status === 0 || status >= 500) breach(`${what}: ${status}`);
  target.mustBeSound();
});

// The least that could serve a session: an HTTP answer and a gRPC stream, with nothing behind them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { type Calls, serveCalls } from '../parts/program.ts';

export interface BareAddresses {
  readonly httpPort: number;
  readonly grpc: string;
}

// As long as the answer to one session.
const ANSWER = JSON.stringify({ id: 'x'.repeat(18), text: 'y'.repeat(300) });

function openHttp(): Promise<number> {
  const server = createServer((request, answer) => {
    request.resume();
    request.once('end', () => {
      answer.writeHead(201, { 'content-type': 'application/json', 'content-length': ANSWER.length });
      answer.end(ANSWER);
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}

function openEcho(path: string): Promise<string> {
  const server = new Server({ 'grpc.enable_channelz': 0 });
  const asTheyAre = (bytes: Buffer): Buffer => bytes;
  const echo = (call: ServerDuplexStream<Buffer, Buffer>): void => {
    call.on('data', (bytes: Buffer) => call.write(bytes));
    call.on('end', () => call.end());
  };
  server.register(path, echo, asTheyAre, asTheyAre, 'bidi');
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(`127.0.0.1:${port}`),
    ),
  );
}

const calls = {
  /** Echoes on that path. */
  async open(path: string): Promise<BareAddresses> {
    return { httpPort: await openHttp(), grpc: await openEcho(path) };
  },
} satisfies Calls;

export type BareCalls = typeof calls;

serveCalls(calls);

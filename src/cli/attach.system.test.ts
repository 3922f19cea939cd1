import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Session } from '../api/wire/session.ts';
import { attachSession } from './attach.ts';
import { openClient } from './client.ts';
import type { Cli } from './command.ts';
import { aSession, ended, line, openScene } from './testing.ts';

type Serve = (socket: WebSocket, url: URL, nth: number) => void;

let server: Server;
let address: string;
let serve: Serve;
let session: Session;

beforeEach(async () => {
  session = aSession({ stdin: true, terminal: true, started_at: '2026-01-01T00:00:00.000Z' });
  server = createServer((_request, reply) => reply.end(JSON.stringify(session)));
  const sockets = new WebSocketServer({ noServer: true });
  let nth = 0;
  server.on('upgrade', (request, socket, head) => {
    if (session.id === 'gone') return refuse(socket);
    sockets.handleUpgrade(request, socket, head, (joined) => {
      nth += 1;
      serve(joined, new URL(request.url ?? '', 'http://x'), nth);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => server.closeAllConnections());

function refuse(socket: Duplex): void {
  const body = JSON.stringify({ kind: 'missing', detail: 'There is no session gone.' });
  socket.end(`HTTP/1.1 404 Not Found\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

const output = (seq: number, text: string): string => `{"output":${line(seq, text).trim()}}`;
const end = (code: number): string => JSON.stringify({ end: ended({}, code) });

/** Only what someone does moves anything on. */
const stoppedClock: Clock = { ...systemClock, alarm: () => () => {} };

function attach(isTTY: boolean, clock: Clock = systemClock) {
  const scene = openScene(() => ({}));
  const input = new PassThrough();
  const modes: boolean[] = [];
  Object.assign(input, { isTTY, setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const cli: Cli = { ...scene.cli, terminal: { ...scene.cli.terminal, input, clock } };
  const client = openClient({ address, token: 'secret', why: 'given' }, fetch);
  const result = attachSession(cli, client, { session, begun() {} }).then(
    (over) => over.end?.exit_code,
    (thrown) => Fault.from(thrown),
  );
  return { ...scene, input, modes, result };
}

describe('an attached session', () => {
  it('gets what is typed, key by key, and the terminal is as it was afterwards', async () => {
    serve = (socket) =>
      socket.on('message', (data) => socket.send(data.toString() === 'q' ? end(4) : output(1, 'seen ')));
    const { input, modes, result, output: shown } = attach(true);

    input.write('x');
    setImmediate(() => input.write('q'));

    expect(await result).toBe(4);
    expect(shown()).toBe('seen ');
    expect(modes).toEqual([true, false]);
  });

  it('is joined again where the connection broke, from the piece it had', async () => {
    const asked: string[] = [];
    serve = (socket, url, nth) => {
      asked.push(url.search);
      if (nth === 1) return socket.send(output(1, 'one '), () => socket.terminate());
      socket.send(output(1, 'one '));
      socket.send(output(2, 'two '));
      socket.send(end(0));
    };
    const { result, output: shown } = attach(true);

    expect(await result).toBe(0);
    expect(shown()).toBe('one two ');
    expect(asked).toEqual(['', '?attempt=1&after_seq=1']);
  });

  it('is joined again where the server has fallen silent', async () => {
    const hasty: Clock = { ...systemClock, alarm: (ms, ring) => systemClock.alarm(ms / 1_000, ring) };
    serve = (socket, _url, nth) => void (nth > 1 && socket.send(end(0)));

    const { result } = attach(true, hasty);

    expect(await result).toBe(0);
  });

  it('gets the size of our window at every attach', async () => {
    const sizes: unknown[] = [];
    serve = (socket, _url, nth) =>
      socket.on('message', (data) => {
        sizes.push(JSON.parse(data.toString()));
        if (nth === 1) socket.terminate();
        else socket.send(end(0));
      });

    expect(await attach(true).result).toBe(0);

    const size = { resize: { columns: 60, rows: 10 } };
    expect(sizes).toEqual([size, size]);
  });

  it('is not joined again with piped input: part of it may be lost', async () => {
    let connections = 0;
    serve = (socket) => {
      connections += 1;
      socket.once('message', () => socket.terminate());
    };
    const { input, result, modes } = attach(false);
    input.write('some');

    const fault = (await result) as Fault;

    expect(fault.kind).toBe('unavailable');
    expect(fault.remedy).toContain('muster session logs -f s1');
    expect([connections, modes]).toEqual([1, []]);
  });

  it('gets all of a large piped input, and its end', async () => {
    let bytes = 0;
    serve = (socket) =>
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) bytes += data.length;
        else socket.send(end(data.toString() === '{"eof":true}' ? 0 : 1));
      });
    const { input, result } = attach(false);
    for (let n = 0; n < 200; n++)
      if (!input.write(Buffer.alloc(64 * 1024))) await new Promise((done) => input.once('drain', done));
    input.end();

    expect(await result).toBe(0);
    expect(bytes).toBe(200 * 64 * 1024);
  });

  it('with a terminal hears the end of input only after its first output', async () => {
    const heard: string[] = [];
    serve = (socket) => {
      socket.on('message', (data) => {
        heard.push(data.toString());
        socket.send(end(0));
      });
      socket.ping();
      socket.once('pong', () => {
        heard.push('prompt');
        socket.send(output(1, '$ '));
      });
    };
    const { input, result } = attach(false, stoppedClock);
    input.end();

    expect(await result).toBe(0);
    expect(heard).toEqual(['prompt', '{"eof":true}']);
  });

  it('with a terminal that stays silent hears the end of input after a second', async () => {
    serve = (socket) => socket.on('message', () => socket.send(end(0)));
    const startedMs = systemClock.monotonic();
    const { input, result } = attach(false);
    input.end();

    expect(await result).toBe(0);
    expect(systemClock.monotonic() - startedMs).toBeGreaterThan(900);
  });

  it('without a terminal hears the end of input at once', async () => {
    session = aSession({ stdin: true });
    serve = (socket) => socket.on('message', () => socket.send(end(0)));
    const { input, result } = attach(false, stoppedClock);
    input.end();

    expect(await result).toBe(0);
  });

  it('that is not there is a fault, not a reason to wait', async () => {
    session = aSession({ id: 'gone', stdin: true });

    expect(await attach(true).result).toMatchObject({ kind: 'missing', message: 'There is no session gone.' });
  });

  it('is left when the command is ended', async () => {
    const joined = Promise.withResolvers<void>();
    serve = () => joined.resolve();
    const { result, breakPipe } = attach(true);
    await joined.promise;
    breakPipe();

    expect(await result).toBeInstanceOf(Fault);
  });
});

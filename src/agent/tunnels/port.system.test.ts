import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { sendSignal } from '#host/processes.ts';
import type { FarEnd } from './far-end.ts';
import { connectToPort } from './port.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A process that listens at these addresses, and answers each connection with its own pid. */
const LISTENER = `
const net = require('node:net');
const ports = [];
for (const options of JSON.parse(process.argv[1])) {
  const server = net.createServer((socket) => socket.end(String(process.pid))).listen(options, () => {
    ports.push([options.host, server.address().port]);
    if (ports.length === JSON.parse(process.argv[1]).length) console.log(JSON.stringify(ports));
  });
}
`;

async function listener(all: readonly ListenOptions[], before: readonly string[] = []) {
  const [program = '', ...words] = [...before, process.execPath, '-e', LISTENER, JSON.stringify(all)];
  const child = spawn(program, words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pipe(process.stderr, { end: false });
  stops.push(() => void sendSignal(-(child.pid as number), 'SIGKILL'));
  const [text] = await once(child.stdout, 'data');
  const ports = Object.fromEntries(JSON.parse(String(text))) as Record<string, number>;
  return { pid: child.pid as number, ports };
}

async function served(
  options: ListenOptions,
  taken: (socket: Socket) => void,
): Promise<{ server: Server; port: number }> {
  const server = createServer({ allowHalfOpen: true }, taken).listen(options);
  stops.push(() => server.close());
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

const placeOf = (...pids: readonly number[]) => ({ session: 's1', cwd: '/', pids: () => pids });

async function textOf({ readable }: FarEnd): Promise<string> {
  let text = '';
  for await (const chunk of readable.iterator({ destroyOnReturn: false })) text += String(chunk);
  return text;
}

const outcome = (port: number, ...pids: readonly number[]): Promise<string> =>
  connectToPort(port, placeOf(...pids)).then(textOf, ({ message }) => message);

const refused = (port: number): string => `No process of session s1 listens on port ${port} of 127.0.0.1.`;

describe('a port of a session', () => {
  test('is reached where its process listens on loopback or on all addresses, by IPv4 and by IPv6', async () => {
    const hosts = ['127.0.0.1', '0.0.0.0', '::1', '::'];
    const { pid, ports } = await listener(hosts.map((host) => ({ host, port: 0 })));

    for (const host of hosts) expect(await outcome(ports[host] as number, pid), host).toBe(String(pid));
  });

  test('is reached where a child of its process listens', async () => {
    const { pid, ports } = await listener([{ host: '127.0.0.1', port: 0 }], ['/bin/sh', '-c', '"$@"; exit', 'sh']);

    expect(Number(await outcome(ports['127.0.0.1'] as number, pid))).toBeGreaterThan(pid);
  });

  test('is not reached where the agent, another process or nobody listens, and no byte gets there', async () => {
    const { pid } = await listener([{ host: '127.0.0.1', port: 0 }]);
    const other = await listener([{ host: '127.0.0.1', port: 0 }]);
    const taken: Socket[] = [];
    const own = await served({ host: '127.0.0.1', port: 0 }, (socket) => void taken.push(socket));
    const any = await served({ host: '::', port: 0 }, (socket) => void taken.push(socket));
    const closed = await served({ host: '127.0.0.1', port: 0 }, () => {});
    await new Promise((resolve) => closed.server.close(resolve));

    for (const port of [own.port, any.port, other.ports['127.0.0.1'] as number, closed.port])
      expect(await outcome(port, pid)).toBe(refused(port));
    expect(taken).toEqual([]);
    await expect(connectToPort(own.port, placeOf(pid))).rejects.toMatchObject({
      kind: 'unavailable',
      remedy: expect.stringContaining('Only ports of the session itself'),
    });
  });

  test('is not reached where another process listens at the same address too', async () => {
    const mine = await listener([{ host: '127.0.0.1', port: 0, reusePort: true }]);
    const port = mine.ports['127.0.0.1'] as number;
    const alone = await outcome(port, mine.pid);
    await served({ host: '127.0.0.1', port, reusePort: true }, (socket) => socket.destroy());

    expect([alone, await outcome(port, mine.pid)]).toEqual([String(mine.pid), refused(port)]);
  });

  test('is reached by IPv6 where another process has the same port of IPv4', async () => {
    const own = await served({ host: '127.0.0.1', port: 0 }, (socket) => socket.destroy());
    const { pid } = await listener([{ host: '::1', port: own.port }]);

    expect(await outcome(own.port, pid)).toBe(String(pid));
  });

  test('is not reached once the processes of the session are gone', async () => {
    const { ports } = await listener([{ host: '127.0.0.1', port: 0 }]);
    const port = ports['127.0.0.1'] as number;

    expect(await outcome(port)).toBe(refused(port));
  });
});

describe('a connection to a port of a session', () => {
  async function connected() {
    const taken = Promise.withResolvers<Socket>();
    const { port } = await served({ host: '127.0.0.1', port: 0 }, taken.resolve);
    const far = await connectToPort(port, placeOf(process.pid));
    const socket = await taken.promise;
    const over = new Promise<string>((resolve) => {
      socket.on('error', ({ message }) => resolve(message)).on('close', () => resolve('closed'));
    });
    return { far, socket, over };
  }

  test('is reset where it is cut off, so that what came does not look complete', async () => {
    const { far, socket, over } = await connected();
    far.writable?.write('half');
    await once(socket, 'data');

    far.destroy();

    expect(await over).toContain('ECONNRESET');
  });

  test('ends in order where both sides have said all, also if it is dropped right after', async () => {
    const { far, socket, over } = await connected();
    socket.resume().end('answer');
    far.writable?.end('question');
    const answer = await textOf(far);
    if (!far.writable?.writableFinished) await once(far.writable as NonNullable<typeof far.writable>, 'finish');

    far.destroy();

    expect([answer, await over]).toEqual(['answer', 'closed']);
  });

  test('takes bytes after the program has ended its own', async () => {
    const { far, socket } = await connected();
    socket.end('answer');
    const answer = await textOf(far);

    far.writable?.end('late');

    expect([answer, String((await once(socket, 'data'))[0])]).toEqual(['answer', 'late']);
  });

  test('may be closed in one direction first', async () => {
    const { far, socket } = await connected();
    far.writable?.end('question');
    let question = '';
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) question += String(chunk);

    socket.end('answer');

    expect([question, await textOf(far)]).toEqual(['question', 'answer']);
  });
});

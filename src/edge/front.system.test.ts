import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { issueServerIdentity, newAuthority } from '../access/tls.ts';
import { type Address, formatAddress, isLoopback, parseAddress } from './address.ts';
import type { HolderAddress } from './forward.ts';
import { type Front, type FrontOptions, openFront } from './front.ts';
import { listenOn } from './listen.ts';
import { connectionKey, type OpenConnections, openConnections } from './open-connections.ts';
import { openTlsListener, type TlsContext, tellTls } from './secure.ts';

const open: Front[] = [];
afterEach(() => {
  for (const front of open.splice(0)) front.close();
});

type TestFront = Front & { readonly connections: OpenConnections };

async function aFront(holder: () => HolderAddress | undefined, more: Partial<FrontOptions> = {}): Promise<TestFront> {
  const anyPort = '127.0.0.1:0';
  const { clock = systemClock } = more;
  const connections = openConnections({ mostOfAddress: 256, trustedProxies: [], clock, log: silentLog });
  const options = {
    http: anyPort,
    grpc: anyPort,
    peer: anyPort,
    secret: 'open sesame',
    connections,
    clock,
    log: silentLog,
  };
  const front = await openFront({ ...options, holder, ...more });
  open.push(front);
  return { ...front, connections };
}

function serveGreeting(front: TestFront): void {
  const server = createServer((request, reply) => {
    reply.setHeader('connection', 'close').end(`hello ${front.connections.addressOf(connectionKey(request.socket))}`);
  });
  front.serve({ http: (socket) => server.emit('connection', socket), grpc: (socket) => socket.destroy() });
}

/** TLS on both ports; on that of gRPC it is optional. */
function serveTls({ connections, serve }: TestFront, context: TlsContext, taken: (socket: Socket) => void): void {
  const established = (socket: Socket): void => {
    connections.established(connectionKey(socket));
    taken(socket);
  };
  const { accept } = openTlsListener(context, established, () => {});
  serve({ http: accept, grpc: (socket) => tellTls(socket, accept, established) });
}

const ask = (address: Address): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: address.port }, (reply) => resolve(text(reply))).on('error', reject);
  });

test('a standby passes connections on to the holder, and the client keeps its own address', async () => {
  const holder = await aFront(() => undefined);
  serveGreeting(holder);
  const holderAddress = { address: formatAddress(holder.peer as Address), secret: 'open sesame' };
  const standby = await aFront(() => holderAddress);

  expect(await ask(holder.addresses.http)).toBe('hello 127.0.0.1');
  expect(await ask(standby.addresses.http)).toBe('hello 127.0.0.1');
});

test('a client that comes during a take-over waits for it', async () => {
  let looks = 0;
  const front = await aFront(() => {
    looks += 1;
    return undefined;
  });

  const answer = ask(front.addresses.http);
  await until('it waits', () => looks > 0);
  serveGreeting(front);

  expect(await answer).toBe('hello 127.0.0.1');
});

test('a client that comes when the holder has just died, and is still known as the holder, waits too', async () => {
  const dead = await listenOn(parseAddress('127.0.0.1:0'), (socket) => socket.destroy());
  dead.close();
  let looks = 0;
  const front = await aFront(() => {
    looks += 1;
    return { address: formatAddress(dead.address), secret: 'old' };
  });

  const answer = ask(front.addresses.http);
  await until('it was tried and found dead', () => looks > 3);
  serveGreeting(front);

  expect(await answer).toBe('hello 127.0.0.1');
});

test('a client that is on its way to a dead holder when this process takes over is served here', async () => {
  const dead = await listenOn(parseAddress('127.0.0.1:0'), (socket) => socket.destroy());
  dead.close();
  let isServing = false;
  const front = await aFront(() => {
    // In the turn in which the client is passed on: the dead holder has not refused it yet.
    if (!isServing) queueMicrotask(() => serveGreeting(front));
    isServing = true;
    return { address: formatAddress(dead.address), secret: 'old' };
  });

  expect(await ask(front.addresses.http)).toBe('hello 127.0.0.1');
});

test('connections that come at once leave others a turn between them', async () => {
  let nowMs = 0;
  let turn = 0;
  const servedIn: number[] = [];
  // Each look at the clock takes longer than a share of a turn.
  const clock: Clock = {
    ...systemClock,
    monotonic: () => (nowMs += 10),
    soon(run) {
      systemClock.soon(() => {
        turn += 1;
        run();
      });
    },
  };
  const front = await aFront(() => undefined, { clock });
  const serve = (socket: Socket): void => {
    servedIn.push(turn);
    socket.destroy();
  };
  front.serve({ http: serve, grpc: serve });

  const { port } = front.addresses.http;
  const clients = Array.from({ length: 20 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(clients.map((client) => once(client, 'close')));

  expect(servedIn).toHaveLength(20);
  expect(new Set(servedIn).size).toBe(20);
});

test('relays to a holder that is no longer the holder are cut, though it keeps them open', async () => {
  let relayed = 0;
  // It goes silent once the connection has come through.
  const frozen = await aFront(() => undefined, { secret: 'old' });
  frozen.serve({ http: (socket) => socket.destroy(), grpc: () => void relayed++ });
  const next = await aFront(() => undefined);
  serveGreeting(next);
  let holderAddress = { address: formatAddress(frozen.peer as Address), secret: 'old' };
  const standby = await aFront(() => holderAddress);
  const stuck = connect(standby.addresses.grpc.port, '127.0.0.1');
  stuck.on('error', () => {});
  await until('it is relayed', () => relayed > 0);
  const closed = once(stuck, 'close');

  holderAddress = { address: formatAddress(next.peer as Address), secret: 'open sesame' };
  await closed;

  expect(await ask(standby.addresses.http)).toBe('hello 127.0.0.1');
});

test.each(['another process', 'this process'])(
  'a client on its way to a frozen holder is served by %s as soon as that is the holder',
  async (which) => {
    let reached = 0;
    // A frozen process: the system accepts for it, and it says nothing.
    const frozen = await listenOn(parseAddress('127.0.0.1:0'), (socket) => {
      socket.on('error', () => {}).resume();
      reached += 1;
    });
    const next = await aFront(() => undefined);
    let holderAddress = { address: formatAddress(frozen.address), secret: 'old' };
    const standby = await aFront(() => holderAddress);
    const answer = ask(standby.addresses.http);
    await until('the frozen holder is reached', () => reached > 0);

    serveGreeting(which === 'this process' ? standby : next);
    holderAddress = { address: formatAddress(next.peer as Address), secret: 'open sesame' };

    expect(await answer).toBe('hello 127.0.0.1');
    frozen.close();
  },
);

test('a replica without a holder answers probes at once, and says what is missing', async () => {
  const front = await aFront(() => undefined, { clock: { ...systemClock, alarm: () => () => {} } });
  const probe = (path: string) => fetch(`http://127.0.0.1:${front.addresses.http.port}${path}`);

  const [health, ready] = [await probe('/healthz'), await probe('/readyz?verbose')];

  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({
    kind: 'unavailable',
    detail: expect.stringContaining('No process holds'),
  });
});

describe('the port for other replicas', () => {
  const INTRODUCTION = `${JSON.stringify({ protocol: 'http', from: '10.0.0.1' })}\nGET / HTTP/1.1\r\nhost: x\r\n\r\n`;

  test('takes nothing without TLS', async () => {
    const holder = await aFront(() => undefined);
    serveGreeting(holder);
    const peer = connect((holder.peer as Address).port, '127.0.0.1');

    peer.write(INTRODUCTION);

    expect(await text(peer).catch(() => '')).not.toContain('hello');
  });

  test.each([
    ['open sesame', 'hello 10.0.0.1'],
    ['guess', ''],
  ])('takes connections of those who know the secret alone: %s', async (secret, answer) => {
    const holder = await aFront(() => undefined);
    serveGreeting(holder);
    const peer = connectTls({
      port: (holder.peer as Address).port,
      host: '127.0.0.1',
      ciphers: 'PSK',
      maxVersion: 'TLSv1.2',
      pskCallback: () => ({ psk: Buffer.from(secret), identity: 'replica' }),
      checkServerIdentity: () => undefined,
    });

    peer.write(INTRODUCTION);
    const heard = await text(peer).catch(() => '');

    expect(heard.split('\r\n\r\n')[1] ?? '').toBe(answer);
  });

  test('shows nothing of what is forwarded to those who listen on the line', async () => {
    const holder = await aFront(() => undefined);
    serveGreeting(holder);
    const seen: Buffer[] = [];
    const line = await listenOn(parseAddress('127.0.0.1:0'), (near) => {
      const far = connect((holder.peer as Address).port, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on('error', () => to.destroy()).on('data', (bytes: Buffer) => void seen.push(bytes));
        from.pipe(to);
      }
    });
    const standby = await aFront(() => ({ address: formatAddress(line.address), secret: 'open sesame' }));

    const answer = await ask(standby.addresses.http);

    line.close();
    expect(answer).toBe('hello 127.0.0.1');
    const all = Buffer.concat(seen).toString('latin1');
    for (const word of ['hello', 'GET /', 'open sesame', '127.0.0.1']) expect(all).not.toContain(word);
  });
});

describe('on a clock that stands still', () => {
  const HALF_HELLO = Buffer.from('1603010200010001fc0303', 'hex');

  /** Behind TLS, says to whoever gets through their own words. */
  async function anEcho() {
    const clock = new VirtualClock();
    const limits: number[] = [];
    const alarm = clock.alarm.bind(clock);
    clock.alarm = (ms, ring) => {
      limits.push(ms);
      return alarm(ms, ring);
    };
    const means = { clock, random: seededRandom(1) };
    const { certificate, key, ca } = issueServerIdentity(newAuthority(means), [], means);
    const front = await aFront(() => undefined, { clock });
    const echo = (socket: Socket): void => void socket.pipe(socket);
    serveTls(front, { certificate, key }, echo);
    return { clock, front, ca, limits };
  }

  /** Connects, says its words, and resolves when its time has begun to run. */
  async function caller({ port }: Address, words: string | Buffer, limits: readonly number[]): Promise<Socket> {
    const before = limits.length;
    const socket = connect(port, '127.0.0.1').resume();
    socket.on('error', () => {}).write(words);
    await until('its limit', () => limits.length > before);
    return socket;
  }

  test.each([
    ['nothing', ''],
    ['half a greeting', HALF_HELLO],
  ])('who says %s in place of a TLS handshake is let go after ten seconds', async (_, words) => {
    const { clock, front, limits } = await anEcho();
    const { http, grpc } = front.addresses;
    const callers = [await caller(http, words, limits), await caller(grpc, words, limits)];
    const gone = callers.map((socket) => once(socket, 'close'));

    await clock.advance(9_999);
    const early = callers.map(({ closed }) => closed);
    await clock.advance(1);

    expect(early).toEqual([false, false]);
    await Promise.all(gone);
  });

  test.each([
    ['nothing', ''],
    ['half of it', '{'],
  ])('who says %s in place of an introduction is let go after ten seconds', async (_, words) => {
    const { clock, front, limits } = await anEcho();
    const socket = await caller(front.peer as Address, words, limits);
    const gone = once(socket, 'close');

    await clock.advance(10_000);

    await gone;
  });

  test('who came through stays, however long they are silent', async () => {
    const { clock, front, ca } = await anEcho();
    const holderAddress = { address: formatAddress(front.peer as Address), secret: 'open sesame' };
    const standby = await aFront(() => holderAddress, { clock });
    const guests = [front, standby].map(({ addresses }) =>
      connectTls({ port: addresses.http.port, host: '127.0.0.1', ca }),
    );
    const through = guests.map((guest) => once(guest, 'data'));
    for (const guest of guests) guest.write('hello');
    await Promise.all(through);

    await clock.advance(3_600_000);
    const heard = guests.map((guest) => once(guest, 'data'));
    for (const guest of guests) guest.write('still here');

    expect((await Promise.all(heard)).map(String)).toEqual(['still here', 'still here']);
    for (const guest of guests) guest.destroy();
  });
});

test('where TLS is optional, clients with it and without it are served on the same port', async () => {
  const means = { clock: systemClock, random: seededRandom(1) };
  const { certificate, key, ca } = issueServerIdentity(newAuthority(means), [], means);
  const front = await aFront(() => undefined);
  const echo = (socket: Socket): void => void socket.pipe(socket);
  serveTls(front, { certificate, key }, echo);
  const { grpc, http } = front.addresses;
  const secure = connectTls({ port: grpc.port, host: '127.0.0.1', ca });
  const plain = connect(grpc.port, '127.0.0.1');
  const plainAtTheOther = connect(http.port, '127.0.0.1').on('error', () => {});

  const heard = [secure, plain].map((socket) => once(socket, 'data'));
  for (const socket of [secure, plain, plainAtTheOther]) socket.write('PRI * HTTP/2.0');

  expect((await Promise.all(heard)).map(String)).toEqual(['PRI * HTTP/2.0', 'PRI * HTTP/2.0']);
  expect(await text(plainAtTheOther).catch(() => '')).not.toContain('PRI');
  for (const socket of [secure, plain]) socket.destroy();
});

test('a port in use is named, with what to do', async () => {
  const first = await aFront(() => undefined);

  const second = aFront(() => undefined, { http: formatAddress(first.addresses.http) });

  await expect(second).rejects.toMatchObject({ kind: 'conflict', remedy: expect.stringContaining('server:') });
});

test.each(['8081', 'host', 'host:99999', '::1:80', ''])('refuses the address "%s"', (wrong) => {
  expect(() => parseAddress(wrong)).toThrow('is not an address');
});

test('reads and writes addresses', () => {
  for (const address of ['127.0.0.1:8081', '[::1]:50051', ':80', 'localhost:1']) {
    expect(formatAddress(parseAddress(address))).toBe(address);
  }
  expect(['localhost', '::1', '127.0.0.9', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
  expect(['10.0.0.1', '', '0.0.0.0', 'example.org', '127.0.0.1%x', '::ffff:127.0.0.1%x'].some(isLoopback)).toBe(false);
});

import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { atEnd, endAll, served } from './testing/served.ts';

afterEach(endAll);

/** The API; `hold` makes the disk wait until its answer is called. */
async function servedWithSlowDisk() {
  let written: Promise<void> = Promise.resolve();
  const sockets: Socket[] = [];
  const world = await served({ rows: [row('pools', poolWithSecret('gpu'))], beforeWrite: () => written }, (socket) => {
    sockets.push(socket);
    return socket;
  });

  /** A client that has sent nothing yet, and whose connection the server has taken. */
  async function client() {
    const taken = sockets.length;
    const socket = connect(world.port, '127.0.0.1');
    atEnd(() => void socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    const atServer = await until('the connection', () => sockets[taken]);
    const answers = (): string[] => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? '');
    const answered = (count: number) =>
      until(`${count} answers`, () => (answers().length >= count ? answers() : undefined));
    return { socket, atServer, answered };
  }

  function hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    written = promise;
    return resolve;
  }

  return { ...world, client, hold };
}

function request(method: string, path: string, token: string, body = ''): string {
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${type}\r\n${body}`;
}

test('half a request of a connection that was reset is never executed with the token of another one', async () => {
  const { client, hold, tokens, deps } = await servedWithSlowDisk();
  const victim = [...deps.store.view.tokens.all()].find(({ name }) => name === 'viewer')?.id ?? '';
  const submit = request('POST', '/api/v1/sessions', tokens.operator, '{"pool":"gpu","command":["true"]}');
  const attacker = await client();
  for (let sent = 1; sent <= 3; sent++) {
    attacker.socket.write(submit);
    await attacker.answered(sent);
  }
  const release = hold();
  attacker.socket.write(submit);
  const half = `DELETE /api/v1/tokens/${victim} HTTP/1.1\r\nX-Rest: `;
  attacker.socket.write(half);
  const sent = 4 * submit.length + half.length;
  await until('half a request', () => (attacker.atServer.bytesRead === sent ? true : undefined));
  attacker.socket.resetAndDestroy();
  await until('the reset', () => (attacker.atServer.closed ? true : undefined));
  const admin = await client();
  release();
  await deps.store.durable();

  admin.socket.write(request('GET', '/api/v1/server', tokens.admin));

  expect(await admin.answered(1)).toEqual(['200']);
  expect(deps.store.view.tokens.get(victim)).toBeDefined();
});

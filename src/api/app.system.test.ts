import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { aSession, poolWithSecret, row } from './testing/rows.ts';
import { atEnd, endAll, served } from './testing/served.ts';
import { apiWorld } from './testing/world.ts';

const gpu = poolWithSecret('gpu');
const UPGRADE = [
  'GET /api/v1/sessions/x/attach HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');

afterEach(endAll);

/** Sends raw bytes and answers all that comes back until the other side closes. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const part of socket) answer += String(part);
  return answer;
}

describe('over real sockets', () => {
  it('serves connections that someone else accepted', async () => {
    const { address, authorization } = await served({ rows: [row('pools', gpu)] });

    const answer = await fetch(`${address}/api/v1/pools/gpu`, { headers: { authorization } });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ name: 'gpu' });
  });

  it('refuses what is not HTTP with a problem', async () => {
    const { port } = await served();

    const nonsense = await raw(port, 'nonsense\r\n\r\n');
    const large = await raw(port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`);
    const hostless = await raw(port, 'GET /api/v1/pools HTTP/1.0\r\n\r\n');

    expect(nonsense).toMatch(/^HTTP\/1\.1 400 .*\r\ncontent-type: application\/problem\+json/);
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    expect(hostless).toMatch(/^HTTP\/1\.1 400 .*/);
    expect(hostless).toContain('headers.host');
  });

  it('drops those who never finish a request', async () => {
    const timeouts = { headersMs: 200, requestMs: 300, idleMs: 1_000 };
    const { port } = await served({ timeouts });

    const headers = await raw(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow:');
    const body = await raw(
      port,
      'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{',
    );

    expect(headers).toMatch(/^HTTP\/1\.1 408 /);
    expect(body).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  it('lets go of those who do not read what they asked for', async () => {
    const timeouts = { headersMs: 200, requestMs: 300, idleMs: 1_000 };
    const endless = Readable.from(Iterator.from({ next: () => ({ value: Buffer.alloc(65_536), done: false }) }));
    const file = { bytes: 2 ** 40, sha256: 'ab'.repeat(32), mediaType: 'application/gzip', open: () => endless };
    const agentFiles = { installScript: async () => '', find: async () => file };
    const { port, accepted } = await served({ timeouts, over: { agentFiles } });

    const client = connect(port, '127.0.0.1').pause();
    atEnd(() => void client.destroy());
    client.write('GET /agent/any.tgz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(endless, 'close');

    expect((await accepted).destroyed).toBe(true);
  });

  it('leaves those alone who wait long for the next word', async () => {
    const timeouts = { headersMs: 100, requestMs: 100, idleMs: 600_000 };
    const { address, port, authorization, sessions } = await served({
      timeouts,
      rows: [row('pools', gpu), row('sessions', aSession('s', gpu))],
    });

    const output = await fetch(`${address}/api/v1/sessions/s/output?follow=1&raw=1`, { headers: { authorization } });
    // Another client that came later is dropped for being slow: so the limits have passed for the first as well.
    await raw(port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow:');
    await sessions.print('s', 1, 'at last');
    await sessions.end('s', 0);

    expect(await output.text()).toBe('at last');
  });

  describe.each([
    ['what is not HTTP', 'nonsense\r\n\r\n'],
    ['an upgrade', UPGRADE],
  ])('where %s was refused', (_, text) => {
    /** Has heard the refusal, and does not hang up. */
    async function refused() {
      const clock = new VirtualClock();
      const { port, accepted } = await served({ clock });
      const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
      client.on('error', () => {});
      atEnd(() => void client.destroy());
      client.write(text);
      await once(client, 'end');
      return { clock, client, socket: await accepted };
    }

    it('hangs up on a client that does not', async () => {
      const { clock, socket } = await refused();
      const before = socket.destroyed;

      await clock.advance(5_000);

      expect([before, socket.destroyed]).toEqual([false, true]);
    });

    it('sees the client hang up, whatever it said before', async () => {
      const { client, socket } = await refused();

      client.end('more');

      await once(socket, 'close');
    });
  });

  it('ends streams when it stops, and lets short answers finish', async () => {
    const { address, authorization, api, sessions } = await served({
      rows: [row('pools', gpu), row('sessions', aSession('s', gpu))],
    });
    const get = (path: string) => fetch(`${address}/api/v1${path}`, { headers: { authorization } });
    const changes = await get('/changes');
    const output = await get('/sessions/s/output?follow=1');
    const waiting = get('/sessions/s?wait=60s');
    await untilHolds(() => expect(sessions.waits).toBe(1));

    await api.close();

    expect(await changes.text()).toContain('event: hello');
    expect(await output.text()).toBe('');
    expect((await waiting).status).toBe(200);
  });

  it('ends followed output and changes as soon as their token is revoked', async () => {
    const { address, deps } = await served({ rows: [row('pools', gpu), row('sessions', aSession('s1', gpu))] });
    const made = await deps.access.createToken({ name: 'x', use: { role: 'viewer' } }, { who: 't', from: 't' });
    const headers = { authorization: `Bearer ${made.text}` };
    const changes = await fetch(`${address}/api/v1/changes`, { headers });
    const output = await fetch(`${address}/api/v1/sessions/s1/output?follow=true`, { headers });

    await deps.access.revokeToken(made.token.id, { who: 't', from: 't' });

    expect(await changes.text()).toContain('event: hello');
    expect(await output.text()).toBe('');
  });

  it('knows when it is spoken to over TLS', async () => {
    let key = { key: '', cert: '' };
    const secure = (socket: Socket): Socket =>
      new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(key) });
    const { port, deps, authorization } = await served({}, secure);
    const identity = deps.access.issueServerIdentity([]);
    key = { key: identity.key, cert: identity.certificate };
    const caller = deps.access.authenticate({ authorization, from: 't' });
    const { code } = deps.access.createLoginLink('viewer', caller);
    const { request } = await import('node:https');

    const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
      request({ host: '127.0.0.1', port, path: `/login?code=${code}`, ca: identity.ca }, resolve)
        .on('error', reject)
        .end(),
    );

    expect(answer.headers['set-cookie']?.[0]).toContain('; Secure');
  });
});

describe('backup', () => {
  it('is sent whole, or written where nothing is yet, for its owner alone', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'muster-backup-'));
    atEnd(() => rm(directory, { recursive: true }));
    const file = join(directory, 'copy.db');
    const { deps } = await apiWorld();
    const store = { ...deps.store, backup: (to: string) => writeFile(to, 'everything') };
    const { address, tokens } = await served({ over: { store, dataDir: directory } });
    const admin = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' };
    const post = (to: string) =>
      fetch(`${address}/api/v1/backup`, { method: 'POST', headers: admin, body: JSON.stringify({ file: to }) });

    const sent = await fetch(`${address}/api/v1/backup`, { headers: admin });
    const text = await sent.text();
    const written = await post(file);
    const again = await post(file);
    const nowhere = await post(join(directory, 'none', 'copy.db'));
    const relative = await post('copy.db');

    expect([sent.status, text]).toEqual([200, 'everything']);
    expect([written.status, await written.json()]).toEqual([201, { file, bytes: 10 }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe('everything');
    expect([again.status, nowhere.status, relative.status]).toEqual([409, 422, 422]);
  });
});

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { issueClient, issueServerIdentity, newAuthority } from '../access/tls.ts';
import { fetchWith } from './fetch-with.ts';

const means = { clock: systemClock, random: systemRandom };
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serveSecurely() {
  const authority = newAuthority(means);
  const { certificate, key } = issueServerIdentity(authority, ['127.0.0.1', 'api.example'], means);
  const options = { cert: certificate, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, reply) => {
    const shown = (request.socket as TLSSocket).getPeerCertificate();
    reply.end(`${shown.subject?.CN ?? 'no client certificate'} by ${request.method}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => void server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo;
  return { authority, url: `https://127.0.0.1:${port}/` };
}

describe('fetch with a trust of its own', () => {
  test('reaches a server whose authority only it knows', async () => {
    const { authority, url } = await serveSecurely();

    expect(await (await fetchWith({ ca: authority.certificate })(url)).text()).toBe('no client certificate by GET');
    await expect(fetchWith({})(url)).rejects.toThrow();
    expect(await (await fetchWith({ isInsecure: true })(url, { method: 'POST' })).text()).toBe(
      'no client certificate by POST',
    );
  });

  test("shows the client's certificate", async () => {
    const { authority, url } = await serveSecurely();
    const { certificate: cert, key } = issueClient(authority, 'velda-apiserver', means);

    const answer = await fetchWith({ ca: authority.certificate, cert, key })(url);

    expect(await answer.text()).toBe('velda-apiserver by GET');
  });

  test('goes by the name that the certificate must have, where the address is another', async () => {
    const { authority, url } = await serveSecurely();
    const ca = authority.certificate;

    expect((await fetchWith({ ca, serverName: 'api.example' })(url)).status).toBe(200);
    await expect(fetchWith({ ca, serverName: 'other.example' })(url)).rejects.toThrow();
  });

  test('goes to a socket of this machine, whatever the address says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-socket-'));
    const socketPath = join(folder, 's');
    const server = createPlainServer((request, reply) => void reply.end(`${request.method} ${request.url}`));
    server.listen(socketPath);
    await once(server, 'listening');
    ends.push(
      () => rmSync(folder, { recursive: true }),
      () => void server.close(),
      () => server.closeAllConnections(),
    );

    const answer = await fetchWith({ socketPath })('http://docker/v1.41/info', { method: 'POST' });

    expect(await answer.text()).toBe('POST /v1.41/info');
    await expect(fetchWith({ socketPath: join(folder, 'none') })('http://docker/')).rejects.toMatchObject({
      cause: { code: 'ENOENT' },
    });
  });
});

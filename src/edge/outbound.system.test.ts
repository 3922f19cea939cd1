import { once } from 'node:events';
import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { going } from '#core/testing/going.ts';
import { GRPC } from '#core/unary.ts';
import { grpcAnswer } from '#fakes/grpc.ts';
import { listenGrpc } from '#fakes/listen-grpc.ts';
import { issueServerIdentity, newAuthority } from '../access/tls.ts';
import { openOutbound } from './outbound.ts';
import { readProxies } from './proxies.ts';
import { type RunningProxy, startProxy } from './testing/start-proxy.ts';

const means = { clock: systemClock, random: systemRandom };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function listening(server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return (server.address() as AddressInfo).port;
}

const tellAgent: RequestListener = (request, reply) => void reply.end(String(request.headers['user-agent']));

async function proxyTo(port: number | undefined): Promise<RunningProxy> {
  const proxy = await startProxy(port);
  ends.push(proxy.end);
  return proxy;
}

const outboundBy = (variables: Readonly<Record<string, string>>) =>
  openOutbound({ proxyFor: readProxies((name) => variables[name]), userAgent: 'muster/9.9' });

describe('with proxies in the environment', () => {
  test('a plain request goes through that of HTTP_PROXY, with its credentials and our name', async () => {
    const proxy = await proxyTo(await listening(createPlainServer(tellAgent)));
    const { fetch, isDirect } = outboundBy({ HTTP_PROXY: proxy.address.replace('//', '//ann:p%40ss@') });
    const answer = await fetch('http://api.cloud.test/v1/machines?a=b', { headers: { accept: 'application/json' } });

    expect(await answer.text()).toBe('muster/9.9');
    expect(isDirect).toBeUndefined();
    expect(proxy.seen).toEqual([
      {
        method: 'GET',
        url: 'http://api.cloud.test/v1/machines?a=b',
        agent: 'muster/9.9',
        proof: `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
      },
    ]);
  });

  test('a secure request goes by a tunnel through that of HTTPS_PROXY, and the server proves itself to us', async () => {
    const authority = newAuthority(means);
    const { certificate, key } = issueServerIdentity(authority, ['api.cloud.test'], means);
    const proxy = await proxyTo(await listening(createServer({ cert: certificate, key }, tellAgent)));
    const { fetchWith } = outboundBy({ HTTPS_PROXY: proxy.address });
    const answer = await fetchWith({ ca: authority.certificate })('https://api.cloud.test/');

    expect(await answer.text()).toBe('muster/9.9');
    expect(proxy.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['CONNECT api.cloud.test:443']);
    await expect(fetchWith({})('https://api.cloud.test/')).rejects.toThrow();
  });

  test('metadata, loopback and what NO_PROXY names go straight', async () => {
    const port = await listening(createPlainServer(tellAgent));
    const proxy = await proxyTo(port);
    const { fetch } = outboundBy({ HTTP_PROXY: proxy.address, NO_PROXY: 'straight.localhost' });
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
    await (await fetch(`http://straight.localhost:${port}/`)).text();

    expect(proxy.seen).toEqual([]);
  });

  test('a socket of this machine needs no proxy, and a proxy of the server itself goes first', async () => {
    const port = await listening(createPlainServer(tellAgent));
    const [general, own] = [await proxyTo(port), await proxyTo(port)];
    const { fetchWith } = outboundBy({ HTTP_PROXY: general.address });
    const bySocket = fetchWith({ socketPath: '/nowhere/docker.sock' })('http://docker/version');
    await expect(bySocket).rejects.toThrow();
    await (await fetchWith({ proxyUrl: own.address })('http://kube.cloud.test/version')).text();

    expect([general.seen.length, own.seen.map(({ url }) => url)]).toEqual([0, ['http://kube.cloud.test/version']]);
  });

  test('a gRPC call goes by a tunnel, with our name', async () => {
    const agents: (string | null)[] = [];
    const listener = await listenGrpc(0, (request) => {
      agents.push(request.headers.get('user-agent'));
      return grpcAnswer(new Uint8Array([1]));
    });
    ends.push(() => listener.close());
    const proxy = await proxyTo(Number(new URL(listener.address).port));
    const { unary } = outboundBy({ HTTP_PROXY: proxy.address.replace('//', '//ann:secret@') });
    const call = { address: 'http://compute.cloud.test:80', path: '/a.B/C', metadata: {}, message: new Uint8Array() };
    const answer = await unary(call, going());

    expect(answer.code).toBe(GRPC.OK);
    expect(proxy.seen).toEqual([
      {
        method: 'CONNECT',
        url: expect.stringMatching(/^compute\.cloud\.test:\d+$/),
        proof: `Basic ${Buffer.from('ann:secret').toString('base64')}`,
      },
    ]);
    expect(agents[0]).toMatch(/^muster\/9\.9 /);
  });
});

test('without proxies requests go straight, with our name, and an SDK may use connections of its own', async () => {
  const port = await listening(createPlainServer(tellAgent));
  const { fetch, isDirect } = outboundBy({ NO_PROXY: '*' });

  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('muster/9.9');
  expect(await (await fetch(`http://127.0.0.1:${port}/`, { headers: { 'user-agent': 'own' } })).text()).toBe('own');
  expect(isDirect).toBe(true);
});

import { expect, it } from 'vitest';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { managedIdentitySource } from './managed-identity.ts';

const RESOURCE = 'https://management.azure.com';

/** Asks for a token where these variables are set; answers it and the request. */
async function ask(variables: Readonly<Record<string, string>>, answer: (nowSeconds: number) => object) {
  const clock = new VirtualClock();
  const asked: { readonly url: URL; readonly headers: Headers }[] = [];
  const context = {
    ...{ cluster: 'c', clock, random: seededRandom(1), log: silentLog, shared: openShared(), dataDir: '/nowhere' },
    agentCommand: [],
    variable: (name: string) => variables[name],
    fetch: (async (input, init) => {
      asked.push({ url: new URL(String(input)), headers: new Headers(init?.headers) });
      return Response.json(answer(clock.now() / 1_000));
    }) as typeof fetch,
  };
  const token = await managedIdentitySource({ context } as never)(RESOURCE, going());
  const [request] = asked;
  return { token, request, leftMs: token.expiresAt - clock.now() };
}

it('a managed identity of App Service is asked for at IDENTITY_ENDPOINT, with its header', async () => {
  const variables = {
    IDENTITY_ENDPOINT: 'http://localhost:42356/msi/token',
    IDENTITY_HEADER: 'b12c',
    AZURE_CLIENT_ID: 'app1',
  };
  const { token, request, leftMs } = await ask(variables, (nowSeconds) => ({
    access_token: 'eyJ1',
    expires_on: String(nowSeconds + 3_600),
  }));

  expect([token.value, leftMs]).toEqual(['eyJ1', 3_600_000]);
  expect(request?.url.href).toBe(
    'http://localhost:42356/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fmanagement.azure.com&client_id=app1',
  );
  expect(request?.headers.get('x-identity-header')).toBe('b12c');
  expect(request?.headers.get('metadata')).toBeNull();
});

it('a managed identity of a machine is asked for at the metadata service, also where only one of both variables is set', async () => {
  const { request, leftMs } = await ask({ IDENTITY_ENDPOINT: 'http://localhost:42356/msi/token' }, () => ({
    access_token: 'eyJ1',
    expires_in: '600',
    expires_on: '1',
  }));

  expect(leftMs).toBe(600_000);
  expect(request?.url.host).toBe('169.254.169.254');
  expect(request?.headers.get('metadata')).toBe('true');
});

import { expect, it } from 'vitest';
import type { ServerConfig } from '#config/server-file.ts';
import { brokerAddresses, clientOrigins, needsTls, ownAddresses } from './addresses.ts';

const addressesOf = (broker: Partial<ServerConfig['broker']>) =>
  brokerAddresses({ broker: { addresses: [], publicAddress: [], ...broker } } as unknown as ServerConfig, {
    host: '127.0.0.1',
    port: 50_051,
  });

it('new agents get every address of the broker, each once, those from outside last', () => {
  const publicAddress = ['https://muster.example', 'a:1'];

  expect(addressesOf({ address: 'a:1', addresses: ['b:1'], publicAddress })).toEqual([
    'a:1',
    'b:1',
    'https://muster.example',
  ]);
});

it('without an address of its own the file only adds to where the server listens', () => {
  expect(addressesOf({})).toEqual(['http://127.0.0.1:50051']);
  expect(addressesOf({ publicAddress: ['b:1'] })).toEqual(['http://127.0.0.1:50051', 'b:1']);
});

it.each([
  ['127.0.0.1', false],
  ['::ffff:127.0.0.1', false],
  ['localhost', false],
  ['127.0.0.1%x', true],
  ['::ffff:127.0.0.1%x', true],
  ['127.example.org', true],
  ['', true],
])('listening on "%s" needs TLS: %s', (host, isNeeded) => {
  expect(needsTls({ host, port: 1 })).toBe(isNeeded);
});

const originsAt = (host: string, access: Partial<ServerConfig['access']> = {}) =>
  clientOrigins({ access: { allowedHosts: [], ...access } } as unknown as ServerConfig, { host, port: 8081 });

it('on loopback clients call the server by the address at which it listens, and by its public URL', () => {
  expect(originsAt('127.0.0.1', { allowedHosts: ['muster.lab'] })).toEqual(['http://127.0.0.1:8081']);
  expect(originsAt('::1', { publicUrl: 'https://muster.lab/x' })).toEqual(['http://[::1]:8081', 'https://muster.lab']);
});

it('on every interface clients call the server by each address of the machine and each name of its certificate', () => {
  const found = originsAt('', { allowedHosts: ['muster.lab'] });

  expect(found).toEqual(
    expect.arrayContaining(['https://muster.lab:8081', 'https://127.0.0.1:8081', 'https://[::1]:8081']),
  );
  for (const address of ownAddresses()) expect(found.join(' ')).toContain(address);
  expect(found.every((origin) => origin.startsWith('https://'))).toBe(true);
});

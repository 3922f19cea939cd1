import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { parseBrokerAddress, targetOf } from './address.ts';
import { agentName, ownAddress, ownKey } from './identity.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});
function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-agent-'));
  folders.push(folder);
  return folder;
}

test.each([
  [{ configured: 'file', given: 'env', hostname: 'host.example.org' }, 'file'],
  [{ given: 'env', hostname: 'host.example.org' }, 'env'],
  [{ configured: '', given: '', hostname: 'host.example.org' }, 'host'],
])('the name comes from the file, the environment, then the host: %#', (sources, name) => {
  expect(agentName(sources, seededRandom(1))).toBe(name);
});

test('a machine without a name gets a random one', () => {
  expect(agentName({ hostname: '' }, seededRandom(1))).toMatch(/^[0-9a-z]{16}$/);
});

test('the key is made once, and only its owner can read it', async () => {
  const folder = aFolder();

  const made = await ownKey(folder, seededRandom(1));
  const again = await ownKey(folder, seededRandom(2));

  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(again).toBe(made);
  expect(statSync(join(folder, 'agent.key')).mode & 0o777).toBe(0o600);
});

test('a damaged key is not replaced in silence, since the server knows the agent by it', async () => {
  const folder = aFolder();
  writeFileSync(join(folder, 'agent.key'), 'abc');

  await expect(ownKey(folder, seededRandom(1))).rejects.toMatchObject({
    kind: 'invalid',
    at: join(folder, 'agent.key'),
  });
});

test('the address is the first that others may reach', () => {
  const at = (address: string, family: 'IPv4' | 'IPv6', internal: boolean) => ({ address, family, internal }) as never;

  expect(
    ownAddress({
      lo: [at('127.0.0.1', 'IPv4', true)],
      e: [at('fe80::1', 'IPv6', false), at('10.0.0.7', 'IPv4', false)],
    }),
  ).toBe('10.0.0.7');
  expect(ownAddress({ lo: [at('127.0.0.1', 'IPv4', true)], none: undefined })).toBe('');
});

test.each([
  ['broker:50051', false, 'broker:50051', 'broker:50051', false],
  ['broker', false, 'broker:80', 'broker', false],
  ['http://broker', false, 'broker:80', 'broker', false],
  ['https://broker', false, 'broker:443', 'broker', true],
  ['HTTPS://broker:8443/', false, 'broker:8443', 'broker:8443', true],
  ['broker:50051', true, 'broker:50051', 'broker:50051', true],
  ['10.0.0.1:50051', true, '10.0.0.1:50051', '10.0.0.1:50051', true],
  ['https://[::1]:50051', false, 'ipv6:[::1]:50051', '[::1]:50051', true],
])('reads the address %s (with CA: %s)', (text, hasCa, target, authority, isSecure) => {
  const address = parseBrokerAddress(text, hasCa);

  expect([targetOf(address), address.authority, address.isSecure]).toEqual([target, authority, isSecure]);
});

test.each(['', 'http://', 'ftp://x', 'host:99999', 'host:0', 'a:b:c', 'host/path', 'https://host:1/x'])(
  'refuses the address "%s"',
  (text) => {
    expect(() => parseBrokerAddress(text, false)).toThrow(
      expect.objectContaining({ kind: 'invalid', at: 'broker.address' }),
    );
  },
);

test('a CA beside plain http is a contradiction', () => {
  expect(() => parseBrokerAddress('http://broker', true)).toThrow('begins with http');
});

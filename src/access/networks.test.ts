import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopbackHost, isWithin, parseIp, parseNetwork } from './networks.ts';

describe('networks', () => {
  it.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['11.1.2.3', '10.0.0.0/8', false],
    ['10.0.0.127', '10.0.0.0/25', true],
    ['10.0.0.128', '10.0.0.0/25', false],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
    ['::ffff:0a01:0203', '10.0.0.0/8', true],
    ['10.1.2.3', '::ffff:10.0.0.0/104', true],
    ['11.1.2.3', '::ffff:10.0.0.0/104', false],
    ['fd12::1', 'fd00::/8', true],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['2001:db8::1', 'fd00::/8', false],
    ['10.1.2.3', '::/0', false],
    ['10.1.2.3', '0.0.0.0/0', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.4', '10.1.2.3', false],
    ['not an address', '0.0.0.0/0', false],
    ['', '0.0.0.0/0', false],
  ])('%s in %s: %s', (address, network, expected) => {
    expect(isWithin(address, [network])).toBe(expected);
  });

  it.each([
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0/8',
    '010.0.0.1',
    '10.0.0.0/-1',
    'x',
    '',
    '::ffff:10.0.0.0/8',
    '1::2::3',
  ])('refuses %s as a network', (text) => {
    expect(() => parseNetwork(text)).toThrow('is not a network');
  });

  it('reads exactly what Node takes for an address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{0,20}$/)), (text) => {
        expect(parseIp(text) !== undefined).toBe(isIP(text) !== 0);
      }),
      { numRuns: 500 },
    );
  });

  it('knows loopback by every name', () => {
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) {
      expect(isLoopbackHost(host), host).toBe(true);
    }
    for (const host of ['0.0.0.0', '::', '', '10.0.0.1', 'localhost.example.org', '127.0.0.1%x', '127.a.example']) {
      expect(isLoopbackHost(host), host).toBe(false);
    }
  });
});

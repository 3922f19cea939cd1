import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { makeCertificate, newKey } from './certificate.ts';
import { integer, oid, sequence, time } from './der.ts';
import { issueClient, issueServerIdentity, newAuthority } from './tls.ts';

const means = () => ({ clock: new VirtualClock(), random: seededRandom(7) });

describe('DER', () => {
  it('writes positive integers in their shortest form, with a zero before a high bit', () => {
    expect(integer(Buffer.of(0, 0, 5))).toEqual(Buffer.from('020105', 'hex'));
    expect(integer(Buffer.of(0x80))).toEqual(Buffer.from('02020080', 'hex'));
    expect(integer(Buffer.of(0))).toEqual(Buffer.from('020100', 'hex'));
  });

  it('writes object identifiers in base 128', () => {
    expect(oid('1.2.840.10045.4.3.2').toString('hex')).toBe('06082a8648ce3d040302');
  });

  it('writes long lengths in as few bytes as they need', () => {
    expect(sequence(Buffer.alloc(127)).subarray(0, 2).toString('hex')).toBe('307f');
    expect(sequence(Buffer.alloc(128)).subarray(0, 3).toString('hex')).toBe('308180');
    expect(sequence(Buffer.alloc(300)).subarray(0, 4).toString('hex')).toBe('3082012c');
  });

  it('writes years from 2050 on with four digits', () => {
    expect(time(Date.UTC(2049, 11, 31, 23, 59, 59)).toString('latin1')).toBe('\x17\x0d491231235959Z');
    expect(time(Date.UTC(2050, 0, 1)).toString('latin1')).toBe('\x18\x0f20500101000000Z');
  });
});

describe('certificates', () => {
  it('are read back by OpenSSL as they were meant', () => {
    const authority = newAuthority(means());
    const ca = new X509Certificate(authority.certificate);

    const server = issueServerIdentity(authority, ['muster.example.org', '10.1.2.3', '[fd00::7]'], means());
    const read = new X509Certificate(server.certificate);

    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe('O=Muster\nCN=Muster cluster CA');
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(ca.validToDate.getUTCFullYear()).toBe(2036);
    expect(read.ca).toBe(false);
    expect(read.verify(ca.publicKey)).toBe(true);
    expect(read.checkIssued(ca)).toBe(true);
    expect(read.checkPrivateKey(createPrivateKey(server.key))).toBe(true);
    for (const host of ['localhost', 'muster.example.org']) expect(read.checkHost(host)).toBe(host);
    for (const ip of ['127.0.0.1', '::1', '10.1.2.3', 'fd00::7']) expect(read.checkIP(ip)).toBe(ip);
    expect(read.checkHost('other.example.org')).toBeUndefined();
    expect(read.checkIP('10.1.2.4')).toBeUndefined();
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    // Strict readers look for the authority by its key, which both certificates name.
    const keyName = ca.raw.subarray(ca.raw.indexOf(Buffer.from('0603551d0e', 'hex')) + 9).subarray(0, 20);
    expect(
      read.raw.includes(Buffer.concat([Buffer.from('0603551d23', 'hex'), Buffer.from('041830168014', 'hex'), keyName])),
    ).toBe(true);
    expect(server.fingerprint).toBe(ca.fingerprint256.replaceAll(':', '').toLowerCase());
  });

  it('for agents serve clients alone and carry the name of the agent', () => {
    const authority = newAuthority(means());

    const client = new X509Certificate(issueClient(authority, 'm-gpu-1', means()).certificate);

    expect(client.subject).toBe('O=Muster\nCN=m-gpu-1');
    expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(client.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  });

  it('have serial numbers that are positive and differ', () => {
    const { clock, random } = means();
    const key = createPrivateKey(newKey());
    const request = { name: 'x', use: 'authority', fromMs: clock.now(), untilMs: clock.now() + 1000 } as const;
    const serialOf = (serial: Uint8Array): string =>
      new X509Certificate(makeCertificate({ ...request, serial }, key, { name: 'x', key })).serialNumber;

    const high = serialOf(Buffer.alloc(16, 0xff));
    const low = serialOf(Buffer.alloc(16, 0));
    const random1 = serialOf(random.bytes(16));

    expect(high).toBe(`7F${'FF'.repeat(15)}`);
    expect(low).toBe(`40${'00'.repeat(15)}`);
    expect(random1).toMatch(/^[4-7][0-9A-F]{31}$/);
  });
});

import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bitString, boolean, implicit, integer, octetString, oid, sequence, set, tagged, time, utf8 } from './der.ts';
import { parseIp } from './networks.ts';

const OIDS = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const ORGANIZATION = 'Muster';

export type CertificateUse = 'authority' | 'server' | 'client';

export interface CertificateRequest {
  readonly name: string;
  readonly use: CertificateUse;
  /** DNS names and IP addresses of a server. */
  readonly addresses?: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
  /** 16 random bytes. */
  readonly serial: Uint8Array;
}

/** The name and key of the signing authority. An authority's own certificate is self-signed. */
export interface Signer {
  readonly name: string;
  readonly key: KeyObject;
}

/** A new P-256 key as PKCS #8 PEM. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const nameOf = (commonName: string): Buffer =>
  sequence(
    set(sequence(oid(OIDS.organization), utf8(ORGANIZATION))),
    set(sequence(oid(OIDS.commonName), utf8(commonName))),
  );

const extension = (id: string, isCritical: boolean, value: Uint8Array): Buffer =>
  sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octetString(value));

/** RFC 5280 §4.2.1.2, method 1: SHA-1 of the key's bits; a label, not a protection. */
function keyId(spki: Uint8Array): Buffer {
  const bits = spki.subarray(spki.length - 65);
  return createHash('sha1').update(bits).digest();
}

// digitalSignature is bit 0, keyCertSign 5, cRLSign 6, counted from the highest.
const usageBits = (use: CertificateUse): Buffer =>
  use === 'authority' ? bitString(Buffer.of(0b0000_0110), 1) : bitString(Buffer.of(0b1000_0000), 7);

function alternativeName(address: string): Buffer {
  const ip = parseIp(address);
  return ip ? implicit(7, ip) : implicit(2, Buffer.from(address, 'ascii'));
}

function extensionsOf(request: CertificateRequest, ownSpki: Buffer, signerSpki: Buffer): Buffer {
  const { use, addresses = [] } = request;
  const constraints = use === 'authority' ? sequence(boolean(true), integer(Buffer.of(0))) : sequence();
  const list = [
    extension(OIDS.basicConstraints, true, constraints),
    extension(OIDS.keyUsage, true, usageBits(use)),
    extension(OIDS.subjectKeyId, false, octetString(keyId(ownSpki))),
    extension(OIDS.authorityKeyId, false, sequence(implicit(0, keyId(signerSpki)))),
  ];
  if (use !== 'authority') {
    const purpose = use === 'server' ? OIDS.serverAuth : OIDS.clientAuth;
    list.push(extension(OIDS.extKeyUsage, false, sequence(oid(purpose))));
  }
  if (addresses.length > 0) {
    list.push(extension(OIDS.subjectAltName, false, sequence(...addresses.map(alternativeName))));
  }
  return sequence(...list);
}

const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** An X.509 v3 certificate (RFC 5280) for `key`, signed by `signer` with ECDSA and SHA-256, as PEM. */
export function makeCertificate(request: CertificateRequest, key: KeyObject, signer: Signer): string {
  const ownSpki = spkiOf(key);
  const algorithm = sequence(oid(OIDS.ecdsaWithSha256));
  const body = sequence(
    tagged(0, integer(Buffer.of(2))),
    // The highest bit cleared and the next one set: positive, and always the same length.
    integer(Buffer.from(request.serial.map((byte, at) => (at === 0 ? (byte & 0x7f) | 0x40 : byte)))),
    algorithm,
    nameOf(signer.name),
    sequence(time(request.fromMs), time(request.untilMs)),
    nameOf(request.name),
    ownSpki,
    tagged(3, extensionsOf(request, ownSpki, spkiOf(signer.key))),
  );
  return pem(sequence(body, algorithm, bitString(sign('sha256', body, signer.key))));
}

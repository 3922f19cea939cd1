import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { DAY_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Random } from '#core/random.ts';
import { type CertificateRequest, makeCertificate, newKey } from './certificate.ts';

/** A key and the certificate chain that goes with it, both PEM. */
export interface KeyPair {
  readonly key: string;
  readonly certificate: string;
}

/** The certificate of a server, and what a client needs to trust it. */
export interface ServerIdentity extends KeyPair {
  /** PEM to trust; undefined if the certificate is the operator's own and the system's roots verify it. */
  readonly ca: string | undefined;
  /** SHA-256 of the certificate to trust, as lower-case hex. */
  readonly fingerprint: string;
  /** When it expires. */
  readonly untilMs: number;
}

const AUTHORITY_DAYS = 3_652;
const SERVER_DAYS = 397;
const CLIENT_DAYS = 397;
// Machines whose clocks are behind must still be able to connect.
const BACKDATED_MS = DAY_MS;
const AUTHORITY_NAME = 'Muster cluster CA';

interface Means {
  readonly clock: Clock;
  readonly random: Random;
}

function span({ clock, random }: Means, days: number): Pick<CertificateRequest, 'fromMs' | 'untilMs' | 'serial'> {
  const nowMs = clock.now();
  return { fromMs: nowMs - BACKDATED_MS, untilMs: nowMs + days * DAY_MS, serial: random.bytes(16) };
}

/** A new certificate authority, valid for ten years. */
export function newAuthority(means: Means): KeyPair {
  const key = newKey();
  const own = createPrivateKey(key);
  const request = { name: AUTHORITY_NAME, use: 'authority', ...span(means, AUTHORITY_DAYS) } as const;
  return { key, certificate: makeCertificate(request, own, { name: AUTHORITY_NAME, key: own }) };
}

function issue(authority: KeyPair, request: CertificateRequest): KeyPair {
  const key = newKey();
  const signer = { name: AUTHORITY_NAME, key: createPrivateKey(authority.key) };
  return { key, certificate: makeCertificate(request, createPrivateKey(key), signer) };
}

/** SHA-256 of the first certificate in a PEM text, as lower-case hex. */
export function fingerprintOf(certificate: string): string {
  return createHash('sha256').update(new X509Certificate(certificate).raw).digest('hex');
}

/** A certificate of our authority for these names and addresses; a new one at each start. */
export function issueServerIdentity(authority: KeyPair, addresses: readonly string[], means: Means): ServerIdentity {
  // As it stands in an address: `[fd00::7]`.
  const bare = addresses.map((address) => address.replace(/^\[|\]$/g, ''));
  const all = [...new Set(['localhost', '127.0.0.1', '::1', ...bare])];
  const request = { name: 'muster', use: 'server', addresses: all, ...span(means, SERVER_DAYS) } as const;
  return {
    ...issue(authority, request),
    ca: authority.certificate,
    fingerprint: fingerprintOf(authority.certificate),
    untilMs: request.untilMs,
  };
}

/** A client certificate whose common name is the agent's, or its pool's. */
export function issueClient(authority: KeyPair, name: string, means: Means): KeyPair {
  return issue(authority, { name, use: 'client', ...span(means, CLIENT_DAYS) });
}

/** The operator's own certificate, checked: it must be readable, not expired, and match its key. */
export function ownIdentity(own: KeyPair & { readonly ca?: string | undefined }, clock: Clock): ServerIdentity {
  let certificate: X509Certificate;
  let isPair: boolean;
  try {
    certificate = new X509Certificate(own.certificate);
    isPair = certificate.checkPrivateKey(createPrivateKey(own.key));
  } catch (cause) {
    const remedy = 'Give a certificate and its key as PEM files, the key without a passphrase.';
    throw new Fault('invalid', 'The TLS certificate or its key cannot be read.', { cause, at: 'server.tls', remedy });
  }
  if (!isPair)
    throw new Fault('invalid', 'The TLS key does not match the certificate.', {
      at: 'server.tls',
      remedy: 'Give the key that belongs to the certificate.',
    });
  const untilMs = certificate.validToDate.getTime();
  if (untilMs <= clock.now()) {
    const detail = `The TLS certificate expired on ${certificate.validToDate.toISOString()}.`;
    throw new Fault('invalid', detail, { at: 'server.tls', remedy: 'Renew the certificate.' });
  }
  return { ...own, ca: own.ca, fingerprint: fingerprintOf(own.ca ?? own.certificate), untilMs };
}

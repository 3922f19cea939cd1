// One parameter as a document. A SecureString whose key is refused is decrypted alone, so that only it has a fault.
import type { Parameter } from '@aws-sdk/client-ssm';
import { Fault } from '#core/fault.ts';
import type { Document } from '#core/provider.ts';
import type { Service, SsmCalls } from '../client.ts';
import { codeOf } from '../faults.ts';

/** One reading of all parameters. */
export interface Reading {
  readonly held: ReadonlyMap<string, string>;
  readonly documents: Document[];
  readonly signal: AbortSignal;
}

/** One parameter as a document; its text only where it is not the version held. */
export function takeParameter({ Name, Value, Version }: Parameter, { held, documents }: Reading): void {
  if (Name === undefined) return;
  const version = String(Version ?? 0);
  if (held.get(Name) === version) documents.push({ key: Name, version });
  else documents.push({ key: Name, version, text: Value ?? '' });
}

// Error messages of KMS pass through SSM unchanged; the codes are those of SSM, or of KMS itself.
const WORDS = /kms|ciphertext|customer master key/i;
const CODES = new Set(['InvalidKeyId', 'KMSInvalidStateException', 'DisabledException']);

/** Whether a fault is about the key of a secret rather than about the right to read parameters. */
export function isAboutKey(fault: Fault): boolean {
  if (CODES.has(codeOf(fault.cause))) return true;
  const isRefused = fault.kind === 'denied' || fault.kind === 'invalid';
  return isRefused && !/perform: ssm:/.test(fault.message) && WORDS.test(fault.message);
}

function sealedFault(key: string, cause: Fault): Fault {
  return new Fault('denied', `Cannot decrypt the SecureString ${key}.`, {
    cause,
    remedy: "Allow the server's role kms:Decrypt on its key, or write it as a String.",
  });
}

/** Decrypts one SecureString that was listed encrypted. */
export async function openSecret(ssm: Service<SsmCalls>, sealed: Parameter, reading: Reading): Promise<void> {
  const { Name: key = '', Version } = sealed;
  const version = String(Version ?? 0);
  // It could be decrypted when that version was read, and has not changed since.
  if (reading.held.get(key) === version) return takeParameter(sealed, reading);
  try {
    const { Parameter: open } = await ssm.ask('GetParameter', { Name: key, WithDecryption: true }, reading);
    if (open) takeParameter(open, reading);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    // Removed since the page was read.
    if (fault.kind === 'missing') return;
    if (fault.kind !== 'denied' && !isAboutKey(fault)) throw fault;
    reading.documents.push({ key, version: `sealed:${version}`, fault: sealedFault(key, fault) });
  }
}

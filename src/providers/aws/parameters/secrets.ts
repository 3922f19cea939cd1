import { Fault } from '#core/fault.ts';
import type { ListedParameter, Service, SsmCalls } from '../client.ts';
import { codeOf } from '../faults.ts';
import { type Reading, takeParameter } from './reading.ts';

// The words of KMS, which come through SSM as they are; the codes are those of SSM, or of KMS itself.
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

/** A secret that was listed sealed: opened alone, so that only it has a fault where its key may not be used. */
export async function openSecret(ssm: Service<SsmCalls>, sealed: ListedParameter, reading: Reading): Promise<void> {
  const { Name: key = '', Version } = sealed;
  const version = String(Version ?? 0);
  // It could be opened when that version was taken in, and has not changed since.
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

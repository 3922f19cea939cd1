// Crusoe's request signing, version 1.0: path, query, method and time, each on a line; the body is not part of it.
import { createHmac } from 'node:crypto';

export interface Signed {
  readonly method: string;
  /** With the version of the API. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** UTC in RFC 3339, in whole seconds. */
  readonly timestamp: string;
}

/** Keys in order, in the encoding of forms. */
const canonical = (query: Signed['query']): string =>
  new URLSearchParams(Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))).toString();

/** The secret is base64 for URLs without padding, and so is the signature. */
export function signatureOf({ method, path, query, timestamp }: Signed, secretKey: string): string {
  const message = `${path}\n${canonical(query)}\n${method}\n${timestamp}\n`;
  return createHmac('sha256', Buffer.from(secretKey, 'base64url')).update(message).digest('base64url');
}

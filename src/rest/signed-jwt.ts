import { type KeyObject, sign } from 'node:crypto';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface JwtParts {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly keyId?: string | undefined;
  /** Of RSA. */
  readonly key: KeyObject;
}

/** A JWT signed as RS256: what the key of a service account is exchanged for a token with (RFC 7523). */
export function signedJwt({ claims, keyId, key }: JwtParts): string {
  const head = encoded({ alg: 'RS256', typ: 'JWT', ...(keyId && { kid: keyId }) });
  const text = `${head}.${encoded(claims)}`;
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
}

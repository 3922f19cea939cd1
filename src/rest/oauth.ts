// What all token endpoints have in common: RFC 6749, sections 5.1 and 5.2.
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Explained } from './client.ts';
import type { Token } from './tokens.ts';

export interface OauthAnswer {
  readonly access_token?: string;
  /** Seconds; metadata services write them as text. */
  readonly expires_in?: number | string;
  /** Seconds since 1970, from those that write no `expires_in`. */
  readonly expires_on?: number | string;
}

/** The token of an answer; `from` is who gave it. */
export function tokenOf(answer: OauthAnswer, clock: Clock, from: string): Token {
  const { access_token: value, expires_in: seconds, expires_on: endsAt } = answer;
  if (!value) throw new Fault('unavailable', `${from} answered without an access token.`);
  if (seconds === undefined && endsAt !== undefined) return { value, expiresAt: Number(endsAt) * SECOND_MS };
  return { value, expiresAt: clock.now() + Number(seconds ?? 0) * SECOND_MS };
}

interface OauthError {
  readonly error?: unknown;
  readonly error_description?: string;
}

// The credential itself is at fault, not the request; these come with 400 or 401.
const BAD_CREDENTIAL = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_rapt']);

/** What a token endpoint means; `remedy` is for a credential that it refuses. */
export function explainOauth(body: unknown, remedy: string): Explained | undefined {
  const { error, error_description: words } = (body ?? {}) as OauthError;
  if (typeof error !== 'string') return undefined;
  const message = words ? `${error}: ${words}` : error;
  return BAD_CREDENTIAL.has(error) ? { kind: 'unauthenticated', message, remedy } : { message };
}

import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Token } from '#rest/tokens.ts';
import type { OauthAnswer } from './source.ts';

/** The token of an answer; `from` is who gave it. */
export function tokenOf({ access_token: value, expires_in: seconds }: OauthAnswer, clock: Clock, from: string): Token {
  if (!value) throw new Fault('unavailable', `${from} answered without an access token.`);
  return { value, expiresAt: clock.now() + (seconds ?? 0) * SECOND_MS };
}

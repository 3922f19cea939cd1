import { type Clock, SECOND_MS } from '#core/clock.ts';

export const TOKEN_SECONDS = 3_600;

interface Grant {
  readonly who: string;
  readonly expiresAt: number;
}

/** The access tokens that this Google has given, and whose they are. */
export interface Granted {
  give(who: string): string;
  /** Whose token this is; undefined where it is unknown, expired or revoked. */
  whose(token: string | undefined): string | undefined;
  /** None of those given so far is taken any longer. */
  revokeAll(): void;
}

export function openGranted(clock: Clock): Granted {
  const grants = new Map<string, Grant>();
  let serial = 0;
  return {
    give(who) {
      serial += 1;
      const token = `ya29.planted-${serial}`;
      grants.set(token, { who, expiresAt: clock.now() + TOKEN_SECONDS * SECOND_MS });
      return token;
    },
    whose(token = '') {
      const grant = grants.get(token);
      return grant && clock.now() < grant.expiresAt ? grant.who : undefined;
    },
    revokeAll: () => grants.clear(),
  };
}

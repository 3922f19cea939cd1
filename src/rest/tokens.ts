import type { Clock } from '#core/clock.ts';

/** A token as a cloud grants it, for OAuth or anything like it. */
export interface Token<Value = string> {
  readonly value: Value;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface TokensOptions<Value> {
  readonly clock: Clock;
  /** One that was granted already. */
  readonly first?: Token<Value> | undefined;
  /** Asks for a new one; its end is its own business, since several callers wait for it. */
  renew(): Promise<Token<Value>>;
}

export interface Tokens<Value> {
  /** A token that is good for a while yet; asks for one only where there is none. */
  get(): Promise<Value>;
  /** The cloud refused that token: it is not used again. */
  refused(value: Value): void;
}

/** A token that is given once and for all. */
export const fixedToken = (value: string): Tokens<string> => ({ get: async () => value, refused() {} });

// A call that leaves with a token must be answered before it expires.
const LEAST_LEFT_MS = 60_000;
const RENEW_BEFORE_MS = 5 * 60_000;
const RENEW_AGAIN_MS = 30_000;

/** Renews a token in the background before it expires, one request at a time. A failed renewal does no harm while the token is valid. */
export function openTokens<Value = string>({ clock, first, renew }: TokensOptions<Value>): Tokens<Value> {
  let held = first;
  let renewing: Promise<Token<Value>> | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;

  const leftMs = (): number => (held === undefined ? 0 : held.expiresAt - clock.now());

  function renewed(): Promise<Token<Value>> {
    renewing ??= renew()
      .then((token) => (held = token))
      .finally(() => {
        // Metadata services give the same token again until shortly before its end.
        notBefore = clock.now() + RENEW_AGAIN_MS;
        renewing = undefined;
      });
    return renewing;
  }

  return {
    async get() {
      if (held === undefined || leftMs() < LEAST_LEFT_MS) return (await renewed()).value;
      if (leftMs() < RENEW_BEFORE_MS && clock.now() >= notBefore) renewed().catch(() => {});
      return held.value;
    },
    refused(value) {
      if (held?.value === value) held = undefined;
    },
  };
}

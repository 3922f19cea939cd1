import { createHash } from 'node:crypto';
import type { Role, Token } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import type { Random } from '#core/random.ts';
import type { IssuedToken, Tokens } from './tokens.ts';

export interface LoginLink {
  readonly code: string;
  readonly expiresAt: number;
}

/** Logs a browser in without giving it a lasting token: a link that is valid once, for a short time. */
export interface Logins {
  /** Neither the link nor the session of its browser outlives the caller's token. */
  createLink(role: Role, caller: Actor & { readonly token: string }): LoginLink;
  /** A token for the session of that browser; the code cannot be used again. */
  exchange(code: string, from: string): Promise<IssuedToken>;
}

const LINK_MS = 5 * 60_000;
const BROWSER_SESSION_MS = 12 * 3_600_000;
// More than any use needs; a faulty caller must not fill the memory.
const MOST_LINKS = 1_000;

interface Waiting {
  readonly role: Role;
  readonly who: string;
  readonly parent: string;
  readonly expiresAt: number;
}

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex');

export function openLogins(tokens: Tokens, clock: Clock, random: Random): Logins {
  // In memory only: after a restart the user asks for a new link.
  const waiting = new Map<string, Waiting>();

  function forgetOld(): void {
    for (const [hash, link] of waiting) {
      if (link.expiresAt <= clock.now() || waiting.size >= MOST_LINKS) waiting.delete(hash);
    }
  }

  const endOf = (forMs: number, parent: Token | undefined): number =>
    Math.min(clock.now() + forMs, parent?.expiresAt ?? Number.POSITIVE_INFINITY);

  return {
    createLink(role, { who, token: parent }) {
      forgetOld();
      const code = Buffer.from(random.bytes(32)).toString('base64url');
      const expiresAt = endOf(LINK_MS, tokens.get(parent));
      waiting.set(hashOf(code), { role, who, parent, expiresAt });
      return { code, expiresAt };
    },
    async exchange(code, from) {
      const link = waiting.get(hashOf(code));
      waiting.delete(hashOf(code));
      const parent = link && tokens.get(link.parent);
      if (!link || !parent || link.expiresAt <= clock.now()) {
        const remedy = 'Get a new link with `muster login`.';
        throw new Fault('unauthenticated', 'This login link was used before, has expired, or its token was revoked.', {
          remedy,
        });
      }
      const expiresAt = endOf(BROWSER_SESSION_MS, parent);
      const wanted = { name: 'browser', use: { role: link.role }, expiresAt, parent: parent.id };
      return tokens.create(wanted, { who: link.who, from });
    },
  };
}

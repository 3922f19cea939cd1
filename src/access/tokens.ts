import { hash } from 'node:crypto';
import { ROLES, type Role, type Token } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor, EventRow } from '#core/journal.ts';
import type { Random } from '#core/random.ts';
import { type Change, drop, put, type Store } from '#core/store.ts';

export interface NewToken {
  readonly name: string;
  readonly use: Token['use'];
  readonly expiresAt?: number | undefined;
  /** The token with which it is revoked. */
  readonly parent?: string | undefined;
}

/** A token and its text, which is shown once and not stored. */
export interface IssuedToken {
  readonly token: Token;
  readonly text: string;
}

export interface Tokens {
  create(wanted: NewToken, actor: Actor): Promise<IssuedToken>;
  revoke(id: string, actor: Actor): Promise<Token>;
  /** The token of that text, unless it has expired. */
  find(text: string): Token | undefined;
  /** The token of that id, unless it has expired. */
  get(id: string): Token | undefined;
}

export interface TokensDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  /** The event of a change, committed together with it. */
  event(event: Pick<EventRow, 'kind' | 'subject' | 'message' | 'pool'>, actor?: Actor): Change;
}

// Long enough to find an expired token in the list when something stopped working.
const EXPIRED_KEPT_MS = 7 * 86_400_000;

const hashOf = (text: string): string => hash('sha256', text);

/** Whether a role includes another: viewer < operator < admin. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function openTokens({ store, clock, random, newId, event }: TokensDeps): Tokens {
  const useText = (use: Token['use']): string =>
    'role' in use ? `role ${use.role}` : `joining pool ${store.view.pools.get(use.join)?.name ?? use.join}`;

  const isOver = (token: Token, graceMs = 0): boolean =>
    token.expiresAt !== undefined && token.expiresAt + graceMs <= clock.now();

  function* longExpired(): Iterable<Change> {
    for (const token of store.view.tokens.all()) if (isOver(token, EXPIRED_KEPT_MS)) yield drop('tokens', token.id);
  }

  /** A token and all tokens that go with it. */
  function* family(token: Token): Iterable<Token> {
    yield token;
    for (const other of store.view.tokens.all()) if (other.parent === token.id) yield* family(other);
  }

  return {
    async create({ name, use, expiresAt, parent }, actor) {
      const prefix = 'role' in use ? 'mat_' : 'mjt_';
      const text = prefix + Buffer.from(random.bytes(32)).toString('base64url');
      const token: Token = {
        id: newId(),
        name,
        hash: hashOf(text),
        use,
        createdAt: clock.now(),
        createdBy: actor.who,
        expiresAt,
        parent,
      };
      const message = `Token ${name} created for ${useText(use)}.`;
      const pool = 'join' in use ? use.join : undefined;
      await store.commit([
        ...longExpired(),
        put('tokens', token),
        event({ kind: 'token.created', subject: `token/${token.id}`, message, pool }, actor),
      ]);
      return { token, text };
    },
    async revoke(id, actor) {
      const token = store.view.tokens.get(id);
      if (!token)
        throw new Fault('missing', `There is no token ${id}.`, { remedy: 'List tokens with `muster token ls`.' });
      const message = `Token ${token.name} revoked.`;
      await store.commit([
        ...Array.from(family(token), (gone) => drop('tokens', gone.id)),
        event({ kind: 'token.revoked', subject: `token/${id}`, message }, actor),
      ]);
      return token;
    },
    get(id) {
      const token = store.view.tokens.get(id);
      return token && !isOver(token) ? token : undefined;
    },
    find(text) {
      const [token] = store.view.tokens.by('hash', hashOf(text));
      return token && !isOver(token) ? token : undefined;
    },
  };
}

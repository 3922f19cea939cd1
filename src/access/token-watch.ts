// What goes on for long ends with the token that it was begun with.
import type { Role } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/store.ts';
import { isAtLeast, type Tokens } from './tokens.ts';

/**
 * Calls `ended` once, as soon as the token was revoked, has expired or no longer has that role, with the fault to show.
 * The returned function ends the watch.
 */
export type WatchToken = (token: string, needed: Role, ended: (why: Fault) => void) => () => void;

interface Watch {
  readonly needed: Role;
  readonly ended: (why: Fault) => void;
}

// An expiry is a date, and someone may set the clock of this machine: a timer until then would not notice.
const LOOK_AGAIN_MS = 5_000;

export function openTokenWatch({ store, clock }: { store: Store; clock: Clock }, tokens: Tokens): WatchToken {
  const watched = new Map<string, Set<Watch>>();
  let cancelLook: (() => void) | undefined;

  function whyOver(id: string, needed: Role): Fault | undefined {
    const token = tokens.get(id);
    if (!token || !('role' in token.use)) {
      return new Fault('unauthenticated', 'The token has expired or was revoked.', { remedy: 'Use another token.' });
    }
    const { role } = token.use;
    if (isAtLeast(role, needed)) return undefined;
    return new Fault('denied', `This needs the role ${needed}; the token now has ${role}.`);
  }

  function remove(id: string, watch: Watch): void {
    const others = watched.get(id);
    others?.delete(watch);
    if (others?.size === 0) watched.delete(id);
    if (watched.size > 0) return;
    cancelLook?.();
    cancelLook = undefined;
  }

  function review(id: string): void {
    for (const watch of [...(watched.get(id) ?? [])]) {
      const why = whyOver(id, watch.needed);
      if (!why) continue;
      remove(id, watch);
      watch.ended(why);
    }
  }

  /** One timer for all: at the next expiry, and at least every five seconds. */
  function lookLater(): void {
    cancelLook?.();
    const expiries = Array.from(watched.keys(), (id) => tokens.get(id)?.expiresAt ?? Number.POSITIVE_INFINITY);
    const nextMs = expiries.reduce((least, at) => Math.min(least, at - clock.now()), LOOK_AGAIN_MS);
    cancelLook = clock.alarm(Math.max(1, nextMs), look);
  }

  function look(): void {
    for (const id of [...watched.keys()]) review(id);
    if (watched.size > 0) lookLater();
  }

  // A listener of the store may not act itself.
  store.onChange('tokens', (_after, _before, id) => void (watched.has(id) && clock.soon(() => review(id))));

  return (id, needed, ended) => {
    const watch: Watch = { needed, ended };
    const others = watched.get(id);
    if (others) others.add(watch);
    else {
      watched.set(id, new Set([watch]));
      lookLater();
    }
    // It may have ended between the check of the request and this call.
    if (whyOver(id, needed)) clock.soon(() => review(id));
    return () => remove(id, watch);
  };
}

import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import type { SessionRequest } from './sessions.ts';

/** A request that may come again: from whom, under which key, and what it said. */
export interface Keyed {
  /** The caller and its key. */
  readonly scope: string;
  readonly hash: string;
  readonly count: number;
}

/** The key of the nth session of a request. */
export const keyOf = (scope: string, n: number): string => `${scope}\n${n}`;

/** Equal requests have equal hashes, in whatever order their fields were written. */
export function hashOf(requests: readonly SessionRequest[]): string {
  return hash('sha256', JSON.stringify(requests, sortFields));
}

function sortFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The sessions of an earlier request with this key; nothing where there was none; a `Fault` where it was another request. */
export async function findRepeat(store: Store, keyed: Keyed): Promise<readonly Session[] | undefined> {
  const known = (await findByKey(store, keyOf(keyed.scope, 0))) ?? findLive(store, keyed);
  if (!known) return undefined;
  if (known.requestHash !== keyed.hash)
    throw new Fault('conflict', 'This key was used before, for another request.', {
      at: 'key',
      remedy: 'Take a new key for a new request.',
    });
  const keys = Array.from({ length: keyed.count }, (_, n) => keyOf(keyed.scope, n));
  const sessions = await Promise.all(keys.map((key) => findByKey(store, key)));
  if (sessions.every((session) => session !== undefined)) return sessions;
  throw new Fault('missing', 'This key was used before, and sessions of that request have been forgotten since.', {
    at: 'key',
    remedy: 'Take a new key for a new request.',
  });
}

/** One that outlived the first of its request. */
function findLive({ view }: Store, { scope, count }: Keyed): Session | undefined {
  for (let n = 1; n < count; n++) for (const session of view.sessions.by('key', keyOf(scope, n))) return session;
  return undefined;
}

async function findByKey(store: Store, key: string): Promise<Session | undefined> {
  for (const session of store.view.sessions.by('key', key)) return session;
  // One that ends right now is on its way into the history.
  await store.durable();
  const [ended] = await store.history.ended({ key }, { limit: 1, order: 'newest first' });
  return ended;
}

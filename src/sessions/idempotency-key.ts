import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import type { SessionRequest } from './sessions.ts';

const LONGEST_KEY = 255;

/** A request with an idempotency key: its caller and key, and a hash of its content. */
export interface Keyed {
  /** The caller and the key. */
  readonly scope: string;
  readonly hash: string;
  readonly count: number;
}

/** Throws a `Fault` if this is no usable key. */
export function checkKey(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= LONGEST_KEY) return;
  const remedy = `Use 1 to ${LONGEST_KEY} printable ASCII characters without spaces.`;
  throw new Fault('invalid', 'The idempotency key is invalid.', { at: 'key', remedy });
}

/** The key of the nth session of a request. */
export const sessionKeyOf = (scope: string, n: number): string => `${scope}\n${n}`;

/** Equal requests have equal hashes, in any order of their fields. */
export function hashOf(requests: readonly SessionRequest[]): string {
  return hash('sha256', JSON.stringify(requests, sortFields));
}

function sortFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The sessions of an earlier request with this key; undefined if there was none; a `Fault` if it was another request. */
export async function findRepeat(store: Store, keyed: Keyed): Promise<readonly Session[] | undefined> {
  const known = (await findByKey(store, sessionKeyOf(keyed.scope, 0))) ?? findLive(store, keyed);
  if (!known) return undefined;
  if (known.requestHash !== keyed.hash)
    throw new Fault('conflict', 'This idempotency key was used before, for another request.', {
      at: 'key',
      remedy: 'Use a new key for a new request.',
    });
  const keys = Array.from({ length: keyed.count }, (_, n) => sessionKeyOf(keyed.scope, n));
  const sessions = await Promise.all(keys.map((key) => findByKey(store, key)));
  if (sessions.every((session) => session !== undefined)) return sessions;
  throw new Fault('missing', 'This idempotency key was used before, and sessions of that request were deleted since.', {
    at: 'key',
    remedy: 'Use a new key for a new request.',
  });
}

/** A live session of the request whose first session is no longer kept. */
function findLive({ view }: Store, { scope, count }: Keyed): Session | undefined {
  for (let n = 1; n < count; n++) for (const session of view.sessions.by('key', sessionKeyOf(scope, n))) return session;
  return undefined;
}

async function findByKey(store: Store, key: string): Promise<Session | undefined> {
  for (const session of store.view.sessions.by('key', key)) return session;
  // A session that ends right now is on its way into the history.
  await store.durable();
  const [ended] = await store.history.ended({ key }, { limit: 1, order: 'newest first' });
  return ended;
}

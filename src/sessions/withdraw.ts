import type { Again } from '#core/loop.ts';
import type { SessionsDeps } from './deps.ts';
import { isFrozen } from './presence.ts';
import type { Settle } from './settle.ts';

const CANCELS_PER_PASS = 500;

/** A pool that goes starts nothing any more, so those that wait in it are cancelled; while it is frozen, they wait on. */
export function withdraw({ store }: SessionsDeps, settle: Settle, pool: string): Again | undefined {
  if (isFrozen(store, pool)) return undefined;
  let cancelled = 0;
  const message = 'Its pool is being removed.';
  for (const session of [...store.view.sessions.by('queue', pool)]) {
    if (cancelled++ >= CANCELS_PER_PASS) return { afterMs: 0 };
    settle.finish(session, { end: { how: 'cancelled', message }, event: message });
  }
  return undefined;
}

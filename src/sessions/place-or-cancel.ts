import type { Again } from '#core/loop.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import { isFrozen } from '#core/worker.ts';
import type { Delivery } from './delivery.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import type { FinishAttempt } from './finish-attempt.ts';
import { keptOwner } from './owner.ts';
import type { PoolQueues } from './pool-queues.ts';

// A few milliseconds of work; the remainder waits until other events had their turn.
const PLACEMENTS_PER_PASS = 1_000;
const CANCELS_PER_PASS = 500;

export interface QueueParts {
  readonly queues: PoolQueues;
  readonly delivery: Delivery;
  readonly finishAttempt: FinishAttempt;
}

/** One pass over the queue of a pool or computer: places its sessions, or cancels them where it is being removed. */
export function placeOrCancel(deps: SessionsDeps, parts: QueueParts, pool: string): Again | undefined {
  return keptOwner(deps.store, pool) ? place(deps, parts, pool) : cancelQueued(deps, parts, pool);
}

const placedOn = (session: Session, agent: string, nowMs: number): Session => ({
  ...session,
  unmatched: undefined,
  worker: agent,
  attempt: session.attempt + 1,
  placedAt: nowMs,
});

/**
 * A new session, placed where a slot is free and no other waits for it: it need not be queued first. It is to be committed
 * in this turn, and sent to its agent when that is durable.
 */
export function placeNew(queues: PoolQueues, session: Session): Session {
  const agent = queues.find(session.pool)?.takeSeat(session);
  return agent === undefined ? session : placedOn(session, agent, session.acceptedAt);
}

/**
 * Gives free slots to the first sessions of the queue, in one commit, and sends them to their agents when it is durable.
 * A paused or removed pool offers no seats, so nothing is placed there. A frozen pool places as usual.
 */
export function place(deps: SessionsDeps, { queues, delivery }: QueueParts, pool: string): Again | undefined {
  const queue = queues.find(pool);
  if (!queue) return undefined;
  const nowMs = deps.clock.now();
  const placed: Session[] = [];
  while (placed.length < PLACEMENTS_PER_PASS) {
    const match = queue.take();
    if (!match) break;
    placed.push(placedOn(match.session, match.agent, nowMs));
  }
  if (placed.length === 0) return undefined;
  commitThen(
    deps,
    placed.map((session) => put('sessions', session)),
    () => {
      for (const session of placed) delivery.start(session);
    },
  );
  return placed.length === PLACEMENTS_PER_PASS ? { afterMs: 0 } : undefined;
}

/** A pool that is being removed starts no sessions, so its queued ones are cancelled; a freeze postpones that. */
function cancelQueued({ store }: SessionsDeps, { finishAttempt }: QueueParts, pool: string): Again | undefined {
  if (isFrozen(store, pool)) return undefined;
  let cancelled = 0;
  const what = store.view.pools.get(pool) ? 'pool' : 'computer';
  const message = `The ${what} of this session is being removed.`;
  for (const session of [...store.view.sessions.by('queue', pool)]) {
    if (cancelled++ >= CANCELS_PER_PASS) return { afterMs: 0 };
    finishAttempt.end(session, { end: { how: 'cancelled', message }, event: message });
  }
  return undefined;
}

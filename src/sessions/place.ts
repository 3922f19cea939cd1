import type { Again } from '#core/loop.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { Board } from './board.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import type { Tell } from './tell.ts';

// A few milliseconds of work; the rest waits until other events had their turn.
const PLACEMENTS_PER_PASS = 1_000;

export interface PlaceParts {
  readonly board: Board;
  readonly tell: Tell;
}

/**
 * Gives free slots to those first in line, in one commit, and tells the agents when it is durable.
 * A paused or removed pool offers no seats, so nothing is placed there; a frozen one goes on.
 */
export function place(deps: SessionsDeps, { board, tell }: PlaceParts, pool: string): Again | undefined {
  const queue = board.queue(pool);
  const nowMs = deps.clock.now();
  const placed: Session[] = [];
  while (placed.length < PLACEMENTS_PER_PASS) {
    const match = queue.take();
    if (!match) break;
    const { session, agent } = match;
    placed.push({ ...session, unmatched: undefined, worker: agent, attempt: session.attempt + 1, placedAt: nowMs });
  }
  if (placed.length === 0) return undefined;
  commitThen(
    deps,
    placed.map((session) => put('sessions', session)),
    () => {
      for (const session of placed) tell.start(session);
    },
  );
  deps.wake(pool);
  return placed.length === PLACEMENTS_PER_PASS ? { afterMs: 0 } : undefined;
}

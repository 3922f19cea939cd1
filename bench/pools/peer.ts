// What peers have in common: they say how many workers there should be, and how long one may be empty.
import type { Action, Facts, WorkerFact } from '../../src/autoscaler/plan.ts';
import type { Planner } from '../../src/foresight/model.ts';

export interface PeerRule {
  /** Workers that the peer wants besides those that run sessions. */
  spare(facts: Facts, inUse: number): number;
  /** An empty worker that is not wanted goes after so long. */
  readonly emptyMs: number;
  /** When it looks again although nothing has happened. */
  readonly everyMs?: number;
  /** The offer to launch from; absent: the first one. */
  offer?(facts: Facts): string | undefined;
}

const REASON = { code: 'enough' } as const;

const isEmpty = ({ phase, freeSlots, slots }: WorkerFact): boolean => phase === 'idle' && freeSlots === slots;

/** One slot a worker: its rule as a planner of the model. */
export function peerPlanner({ spare, emptyMs, everyMs, offer = firstOffer }: PeerRule): Planner {
  return (facts) => {
    const { nowMs, queued, scaling } = facts;
    const workers = facts.workers.filter(({ phase }) => phase !== 'deleting');
    const empty = workers.filter(isEmpty);
    const starting = workers.filter(({ phase }) => phase === 'launching').length;
    const inUse = workers.length - empty.length - starting;
    const wanted = Math.min(scaling.maxAgents, inUse + queued + Math.max(0, Math.ceil(spare(facts, inUse + queued))));
    const from = offer(facts);
    const actions: Action[] = [];
    if (wanted > workers.length && from !== undefined)
      actions.push({ do: 'launch', offer: from, count: wanted - workers.length, why: '' });
    const over = empty.toSorted((a, b) => a.sinceMs - b.sinceMs).slice(0, Math.max(0, workers.length - wanted));
    const due = over.filter(({ sinceMs }) => nowMs - sinceMs >= emptyMs);
    for (const { name } of due) actions.push({ do: 'remove', worker: name, why: '' });
    const next = over.find((worker) => !due.includes(worker));
    const againAfterMs = Math.min(
      everyMs ?? Number.POSITIVE_INFINITY,
      next ? next.sinceMs + emptyMs - nowMs : Infinity,
    );
    return { actions, did: actions.length > 0 ? 'act' : 'nothing', reason: REASON, why: '', againAfterMs };
  };
}

const firstOffer = ({ offers }: Facts): string | undefined => offers[0]?.id;

import type { Actor, DecisionRow, EventRow } from '#core/journal.ts';
import type { Change } from '#core/store.ts';

export type NewEvent = Pick<EventRow, 'kind' | 'subject' | 'message'> & Partial<Pick<EventRow, 'pool' | 'fields'>>;
export type NewDecision = Omit<DecisionRow, 'id' | 'at'>;

/** Events and decisions: what happened, who caused it, and why we did what we did. */
export interface Journal {
  /** A change to commit together with what it tells of. */
  event(event: NewEvent, actor?: Actor): Change;
  /** A change where the decision acts or differs from the pool's last; otherwise it is only counted. */
  decision(decision: NewDecision, acts: boolean): Change | undefined;
  /** The last decision of a pool, how often it was repeated, and when last. */
  lastDecision(
    pool: string,
  ): { readonly decision: DecisionRow; readonly repeats: number; readonly lastAt: number } | undefined;
  stop(): Promise<void>;
}

import type { Clock } from '#core/clock.ts';
import type { DecisionRow } from '#core/journal.ts';
import { append, type Change } from '#core/store.ts';

export type NewDecision = Omit<DecisionRow, 'id' | 'at'>;

export interface LastDecision {
  readonly decision: DecisionRow;
  /** How often it was made again since for the same reason; what it shows are the newest figures. */
  readonly repeats: number;
  readonly lastAt: number;
}

/** The last decision of each pool, so that equal ones are counted and not stored. */
export interface Decisions {
  record(decision: NewDecision, acts: boolean): Change | undefined;
  last(pool: string): LastDecision | undefined;
  forget(pool: string): void;
}

export interface DecisionsDeps {
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly redactText: (text: string) => string;
  /** Of how many pools the last decision is remembered; the one longest unchanged goes first. */
  readonly most: number;
}

// The figures in a sentence change with every session; the reason stays the same, and is stored once.
const reasonOf = ({ did, why }: NewDecision): string => `${did}\n${why.replace(/\d+/g, '#')}`;

export function keepDecisions({ clock, nextId, redactText, most }: DecisionsDeps): Decisions {
  interface Kept {
    decision: DecisionRow;
    readonly reason: string;
    repeats: number;
    lastAt: number;
  }
  const byPool = new Map<string, Kept>();

  function remember(given: NewDecision): DecisionRow {
    const at = clock.now();
    const decision: DecisionRow = { ...given, id: nextId(), at, why: redactText(given.why) };
    byPool.delete(given.pool);
    byPool.set(given.pool, { decision, reason: reasonOf(given), repeats: 0, lastAt: at });
    if (byPool.size > most) byPool.delete(byPool.keys().next().value as string);
    return decision;
  }

  return {
    record(given, acts) {
      const kept = byPool.get(given.pool);
      if (acts || !kept || kept.reason !== reasonOf(given)) return append('decisions', remember(given));
      const { id, at } = kept.decision;
      kept.decision = { ...given, id, at, why: redactText(given.why) };
      kept.repeats += 1;
      kept.lastAt = clock.now();
      return undefined;
    },
    last(pool) {
      const kept = byPool.get(pool);
      return kept && { decision: kept.decision, repeats: kept.repeats, lastAt: kept.lastAt };
    },
    forget: (pool) => void byPool.delete(pool),
  };
}

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

interface Kept {
  readonly id: string;
  readonly at: number;
  /** As it was made last. */
  given: NewDecision;
  repeats: number;
  lastAt: number;
}

const withoutFigures = (why: string): string => why.replace(/\d+/g, '#');

// The figures in a sentence change with every session; the reason stays the same, and is stored once.
const isSameReason = (one: NewDecision, other: NewDecision): boolean =>
  one.did === other.did && (one.why === other.why || withoutFigures(one.why) === withoutFigures(other.why));

export function keepDecisions({ clock, nextId, redactText, most }: DecisionsDeps): Decisions {
  const byPool = new Map<string, Kept>();

  /** Redacted when it is stored or shown, not when it is made: a pool makes the same one a thousand times. */
  const rowOf = ({ id, at, given }: Kept): DecisionRow => ({ ...given, id, at, why: redactText(given.why) });

  function remember(given: NewDecision): Kept {
    const at = clock.now();
    const kept: Kept = { id: nextId(), at, given, repeats: 0, lastAt: at };
    byPool.delete(given.pool);
    byPool.set(given.pool, kept);
    if (byPool.size > most) byPool.delete(byPool.keys().next().value as string);
    return kept;
  }

  return {
    record(given, acts) {
      const kept = byPool.get(given.pool);
      if (acts || !kept || !isSameReason(kept.given, given)) return append('decisions', rowOf(remember(given)));
      kept.given = given;
      kept.repeats += 1;
      kept.lastAt = clock.now();
      return undefined;
    },
    last(pool) {
      const kept = byPool.get(pool);
      return kept && { decision: rowOf(kept), repeats: kept.repeats, lastAt: kept.lastAt };
    },
    forget: (pool) => void byPool.delete(pool),
  };
}

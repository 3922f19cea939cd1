import type { Clock } from '#core/clock.ts';
import type { DecisionRow } from '#core/journal.ts';
import { areSameReasons, isSameReason, type Reason, type Subject } from '#core/reason.ts';
import { append, type Change } from '#core/store.ts';

export interface NewDecision extends Omit<DecisionRow, 'id' | 'at' | 'inputs' | 'reason'> {
  readonly reason: Reason;
}

/** Writes the inputs of a decision; called only when it is stored. */
export type WriteInputs = (redactText: (text: string) => string) => string;

export interface LastDecision {
  /** With the newest figures, and without its inputs. */
  readonly decision: DecisionRow;
  /** How often it was made again since for the same reasons. */
  readonly repeats: number;
  readonly lastAt: number;
}

/** The last decision of each subject, so that equal ones are counted and not stored. */
export interface Decisions {
  record(decision: NewDecision, acts: boolean, inputs?: WriteInputs): Change | undefined;
  last(subject: Subject): LastDecision | undefined;
  forget(subject: Subject): void;
}

export interface DecisionsDeps {
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly redactText: (text: string) => string;
  /** Of how many subjects the last decision is remembered; the one longest unchanged goes first. */
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

// The figures in a sentence change with every session: what counts is what was done, and the reasons.
const isSame = (one: NewDecision, other: NewDecision): boolean =>
  one.did === other.did && isSameReason(one.reason, other.reason) && areSameReasons(one.also, other.also);

export function keepDecisions({ clock, nextId, redactText, most }: DecisionsDeps): Decisions {
  const bySubject = new Map<string, Kept>();

  /** Redacted when it is stored or shown, not when it is made: a pool makes the same one a thousand times. */
  function rowOf({ id, at, given }: Kept): DecisionRow {
    const { alternatives, ...rest } = given;
    const shown = alternatives?.map((each) => ({ ...each, whyNot: redactText(each.whyNot) }));
    return { ...rest, id, at, why: redactText(given.why), ...(shown?.length ? { alternatives: shown } : {}) };
  }

  function remember(given: NewDecision): Kept {
    const at = clock.now();
    const kept: Kept = { id: nextId(), at, given, repeats: 0, lastAt: at };
    bySubject.delete(given.subject);
    bySubject.set(given.subject, kept);
    if (bySubject.size > most) bySubject.delete(bySubject.keys().next().value as string);
    return kept;
  }

  return {
    record(given, acts, inputs) {
      const kept = bySubject.get(given.subject);
      if (acts || !kept || !isSame(kept.given, given)) {
        const row = rowOf(remember(given));
        return append('decisions', inputs ? { ...row, inputs: inputs(redactText) } : row);
      }
      kept.given = given;
      kept.repeats += 1;
      kept.lastAt = clock.now();
      return undefined;
    },
    last(subject) {
      const kept = bySubject.get(subject);
      return kept && { decision: rowOf(kept), repeats: kept.repeats, lastAt: kept.lastAt };
    },
    forget: (subject) => void bySubject.delete(subject),
  };
}

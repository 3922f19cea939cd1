import type { Clock } from '#core/clock.ts';
import type { DecisionRow } from '#core/journal.ts';
import {
  areSameAlternatives,
  areSameFigures,
  areSameReasons,
  isSameReason,
  type Reason,
  type Subject,
} from '#core/reason.ts';
import { append, type Change } from '#core/store.ts';

/** A decision to append; the journal adds its id, its time and its inputs. */
export interface NewDecision extends Omit<DecisionRow, 'id' | 'at' | 'inputs' | 'reason'> {
  readonly reason: Reason;
}

/** Writes the inputs of a decision; called only when it is stored. */
export type WriteInputs = (redactText: (text: string) => string) => string;

/** The last decision of a subject, and how often it was repeated. */
export interface LastDecision {
  /** With the newest figures, and without its inputs. */
  readonly decision: DecisionRow;
  /** How often it was made again since for the same reasons. */
  readonly repeats: number;
  readonly lastAt: number;
  /** The last one that acted, which may be this one. */
  readonly lastAction?: ActedDecision | undefined;
}

export type ActedDecision = Pick<DecisionRow, 'did' | 'reason' | 'also' | 'why' | 'at'>;

/** The last decision of each subject, so that equal ones are counted and not stored. */
export interface Decisions {
  record(decision: NewDecision, acts: boolean, inputs?: WriteInputs): Change | undefined;
  /** The first decision of a subject that can only wait: every start makes one for every pool, so it is not stored. */
  noteWait(decision: NewDecision): boolean;
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
  readonly acted?: ActedDecision | undefined;
}

// The figures in a sentence change with every session: what counts is what was done, and the reasons.
const isSame = (one: NewDecision, other: NewDecision): boolean =>
  one.did === other.did && isSameReason(one.reason, other.reason) && areSameReasons(one.also, other.also);

/** Whether it reads the same to the last figure. */
function readsAlike(one: NewDecision, other: NewDecision): boolean {
  if (one.why !== other.why || one.unless !== other.unless) return false;
  return areSameFigures(one.facts, other.facts) && areSameAlternatives(one.alternatives, other.alternatives);
}

export function keepDecisions({ clock, nextId, redactText, most }: DecisionsDeps): Decisions {
  const bySubject = new Map<string, Kept>();

  /** Redacted when it is stored or shown, not when it is made: a pool makes the same one a thousand times. */
  function rowOf({ id, at, given }: Kept): DecisionRow {
    const { alternatives, ...rest } = given;
    const shown = alternatives?.map((each) => ({ ...each, whyNot: redactText(each.whyNot) }));
    return { ...rest, id, at, why: redactText(given.why), ...(shown?.length ? { alternatives: shown } : {}) };
  }

  function remember(given: NewDecision, acts: boolean): Kept {
    const at = clock.now();
    const { did, reason, also, why } = given;
    const acted = acts ? { did, reason, also, why, at } : bySubject.get(given.subject)?.acted;
    const kept: Kept = { id: nextId(), at, given, repeats: 0, lastAt: at, acted };
    bySubject.delete(given.subject);
    bySubject.set(given.subject, kept);
    if (bySubject.size > most) bySubject.delete(bySubject.keys().next().value as string);
    return kept;
  }

  return {
    record(given, acts, inputs) {
      const kept = bySubject.get(given.subject);
      if (acts || !kept || !isSame(kept.given, given)) {
        const row = rowOf(remember(given, acts));
        return append('decisions', inputs ? { ...row, inputs: inputs(redactText) } : row);
      }
      // What is kept outlives the pass, and costs the garbage collector: most passes have nothing new to keep.
      if (!readsAlike(kept.given, given)) kept.given = given;
      kept.repeats += 1;
      kept.lastAt = clock.now();
      return undefined;
    },
    noteWait(given) {
      if (bySubject.has(given.subject)) return false;
      remember(given, false);
      return true;
    },
    last(subject) {
      const kept = bySubject.get(subject);
      if (!kept) return undefined;
      const { repeats, lastAt, acted } = kept;
      const lastAction = acted && { ...acted, why: redactText(acted.why) };
      return { decision: rowOf(kept), repeats, lastAt, lastAction };
    },
    forget: (subject) => void bySubject.delete(subject),
  };
}

// Recorded decisions, computed again from their inputs by the planner that decides.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { DecisionRow } from '#core/journal.ts';
import {
  areSameAlternatives,
  areSameFigures,
  areSameReasons,
  isSameReason,
  poolOfSubject,
  type Subject,
} from '#core/reason.ts';
import { openSlices } from '#core/slices.ts';
import type { Store } from '#core/store.ts';
import { readFacts } from '../autoscaler/inputs.ts';
import { type Facts, type Plan, plan } from '../autoscaler/plan.ts';

/** What a record says of a decision. */
export type DecisionContent = Pick<
  DecisionRow,
  'did' | 'reason' | 'also' | 'why' | 'unless' | 'facts' | 'alternatives'
>;

/** A part of a decision in which the two may differ, in the order in which they are compared. */
export const DECISION_PARTS = ['did', 'reason', 'also', 'why', 'unless', 'facts', 'alternatives'] as const;
export type DecisionPart = (typeof DECISION_PARTS)[number];

/** What came of computing a recorded decision again. */
export type Replayed =
  | { readonly is: 'same'; readonly computed: DecisionContent }
  | { readonly is: 'different'; readonly computed: DecisionContent; readonly parts: readonly DecisionPart[] }
  /** An earlier version recorded it without what it was computed from. */
  | { readonly is: 'without-inputs' }
  | { readonly is: 'unreadable'; readonly fault: Fault };

type DecidesAgain = (facts: Facts) => Plan;

/** The decision that this version makes of these inputs. */
export function computeAgain(inputs: string, planner: DecidesAgain = plan): DecisionContent {
  return decidedBy(planner(readFacts(inputs)));
}

const decidedBy = ({ did, reason, also, why, unless, alternatives, figures }: Plan): DecisionContent => ({
  ...{ did, reason, also, why, unless, facts: figures, alternatives },
});

export function replayDecision(recorded: DecisionRow, planner: DecidesAgain = plan): Replayed {
  if (recorded.inputs === undefined) return { is: 'without-inputs' };
  const facts = readOrFault(recorded.inputs);
  if (facts instanceof Fault) return { is: 'unreadable', fault: facts };
  const computed = decidedBy(planner(facts));
  const parts = DECISION_PARTS.filter((part) => !IS_SAME[part](recorded, computed));
  return parts.length === 0 ? { is: 'same', computed } : { is: 'different', computed, parts };
}

function readOrFault(inputs: string): Facts | Fault {
  try {
    return readFacts(inputs);
  } catch (thrown) {
    return Fault.from(thrown);
  }
}

const IS_SAME: Readonly<Record<DecisionPart, (one: DecisionContent, other: DecisionContent) => boolean>> = {
  did: (one, other) => one.did === other.did,
  reason: ({ reason: one }, { reason: other }) => one === other || (!!one && !!other && isSameReason(one, other)),
  also: (one, other) => areSameReasons(one.also, other.also),
  why: (one, other) => one.why === other.why,
  unless: (one, other) => one.unless === other.unless,
  facts: (one, other) => areSameFigures(one.facts, other.facts),
  alternatives: (one, other) => areSameAlternatives(one.alternatives, other.alternatives),
};

type OfKind<K extends Replayed['is']> = Extract<Replayed, { readonly is: K }> & { readonly recorded: DecisionRow };

/** A page of the records, computed again: how many of each there were, and the first of those that differ. */
export interface ReplayedPage {
  readonly decisions: number;
  readonly counts: Readonly<Record<Replayed['is'], number>>;
  readonly different?: OfKind<'different'> | undefined;
  readonly unreadable?: OfKind<'unreadable'> | undefined;
  /** Of the first and of the last record. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
  /** The id after which the next page starts. */
  readonly next?: string | undefined;
}

export interface ReplayOptions {
  /** Absent: decisions about all pools. */
  readonly subject?: Subject | undefined;
  readonly after: string;
  readonly planner?: DecidesAgain | undefined;
}

const ROWS_A_PAGE = 500;

/** Reads the next records, the oldest first. It holds up nothing for longer than a slice, and changes nothing. */
export async function replayPage(
  { store, clock }: { readonly store: Pick<Store, 'history'>; readonly clock: Clock },
  { subject, after, planner }: ReplayOptions,
): Promise<ReplayedPage> {
  const page = { after, limit: ROWS_A_PAGE, order: 'oldest first' } as const;
  const rows = await store.history.decisions({ subject }, page);
  const ofPools = rows.filter((row) => poolOfSubject(row.subject) !== undefined);
  const counts = { same: 0, different: 0, 'without-inputs': 0, unreadable: 0 };
  let [different, unreadable]: [ReplayedPage['different'], ReplayedPage['unreadable']] = [undefined, undefined];
  const slices = openSlices(clock);
  for (const recorded of ofPools) {
    const made = replayDecision(recorded, planner);
    counts[made.is] += 1;
    if (made.is === 'different') different ??= { ...made, recorded };
    if (made.is === 'unreadable') unreadable ??= { ...made, recorded };
    if (slices.isOver()) await slices.next();
  }
  return {
    ...{ decisions: ofPools.length, counts, different, unreadable },
    ...{ fromMs: ofPools[0]?.at, untilMs: ofPools.at(-1)?.at },
    next: rows.length < ROWS_A_PAGE ? undefined : rows.at(-1)?.id,
  };
}

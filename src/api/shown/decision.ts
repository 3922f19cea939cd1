import type { DecisionRow } from '#core/journal.ts';
import type { Alternative, Reason } from '#core/reason.ts';
import type { DecisionContent } from '../../foresight/replay.ts';
import type * as wire from '../wire/decision.ts';
import type { ComputedDecision } from '../wire/replay.ts';
import { toTime } from '../wire/shared.ts';
import { withSnakeKeys } from './snake-keys.ts';

export function shownReason({ code, with: settings }: Reason): wire.Reason {
  return { code, with: settings && withSnakeKeys(settings) };
}

export function shownAlternative({ what, whyNot, pricePerHour }: Alternative): wire.Alternative {
  return { what, why_not: whyNot, price_per_hour: pricePerHour };
}

export function shownDecision(row: DecisionRow): wire.Decision {
  const { id, at, subject, inputs } = row;
  return { id, at: toTime(at), subject, ...shownComputed(row), inputs };
}

/** A decision without its record, such as one that is computed again. */
export function shownComputed({
  did,
  reason,
  also,
  why,
  unless,
  facts,
  alternatives,
}: DecisionContent): ComputedDecision {
  return {
    did,
    reason: reason && shownReason(reason),
    also: also?.map(shownReason),
    why,
    unless,
    facts: withSnakeKeys(facts),
    alternatives: alternatives?.map(shownAlternative),
  };
}

import type { ModelDecision } from './model.ts';

/** What two policies decided at the same moment; absent where that one has not decided anything yet. */
export interface DecisionDifference {
  readonly atMs: number;
  readonly first?: ModelDecision | undefined;
  readonly other?: ModelDecision | undefined;
}

/** Where the second list first does something else than the first. Other figures in an equal reason are no difference. */
export function firstDifference(
  one: readonly ModelDecision[],
  other: readonly ModelDecision[],
): DecisionDifference | undefined {
  const [mine, its] = [one.filter(acts), other.filter(acts)];
  for (let at = 0; at < Math.max(mine.length, its.length); at += 1) {
    const [a, b] = [mine[at], its[at]];
    if (a?.atMs === b?.atMs && a?.did === b?.did) continue;
    const atMs = Math.min(a?.atMs ?? Number.POSITIVE_INFINITY, b?.atMs ?? Number.POSITIVE_INFINITY);
    return { atMs, first: inForce(one, atMs), other: inForce(other, atMs) };
  }
  return undefined;
}

const acts = ({ did }: ModelDecision): boolean => did !== 'nothing';

const inForce = (decisions: readonly ModelDecision[], atMs: number): ModelDecision | undefined =>
  decisions.findLast((decision) => decision.atMs <= atMs);

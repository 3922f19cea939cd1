import type { DecisionDifference, ForecastDecision } from '#core/forecast.ts';

/** Where the second list first does something else than the first. Other figures in an equal reason are no difference. */
export function firstDifference(
  one: readonly ForecastDecision[],
  other: readonly ForecastDecision[],
): DecisionDifference | undefined {
  const [mine, its] = [one.filter(acts), other.filter(acts)];
  for (let at = 0; at < Math.max(mine.length, its.length); at += 1) {
    const [a, b] = [mine[at], its[at]];
    if (a?.atMs === b?.atMs && a?.did === b?.did) continue;
    const atMs = Math.min(a?.atMs ?? Number.POSITIVE_INFINITY, b?.atMs ?? Number.POSITIVE_INFINITY);
    return {
      atMs,
      first: a?.atMs === atMs ? a : inForce(one, atMs),
      other: b?.atMs === atMs ? b : inForce(other, atMs),
    };
  }
  return undefined;
}

const acts = ({ did }: ForecastDecision): boolean => did !== 'nothing';

const inForce = (decisions: readonly ForecastDecision[], atMs: number): ForecastDecision | undefined =>
  decisions.findLast((decision) => decision.atMs <= atMs);

// How many nodes fewer there would be once some are empty: an empty node that the target needs is kept. Pure.
import type { Evaluation } from '../evaluate.ts';
import { isBusy, isEmpty, type NodeSurvey, type SurveyedNode } from '../survey.ts';
import { targetSize } from '../target.ts';

/** Empty nodes that go, or may go. */
const isSpare = (node: SurveyedNode): boolean =>
  isEmpty(node) && node.group !== undefined && !node.fact.mustStay && ['ready', 'tainted'].includes(node.phase);

/** How many of the first of these nodes are worth emptying, each of them. */
export function worthEmptying(
  nodes: readonly SurveyedNode[],
  { survey, evaluation }: { readonly survey: NodeSurvey; readonly evaluation: Evaluation },
): number {
  const { quantities, limits } = evaluation;
  const spare = survey.nodes.filter(isSpare).length;
  const going = (emptied: readonly SurveyedNode[]): number => {
    const busy = quantities.busy - emptied.filter(isBusy).length;
    const target = targetSize({ ...quantities, busy }, limits).nodes;
    return Math.max(0, Math.min(spare + emptied.length, quantities.nodes - target));
  };
  const before = going([]);
  let worth = 0;
  while (worth < nodes.length && going(nodes.slice(0, worth + 1)) - before > worth) worth += 1;
  return worth;
}

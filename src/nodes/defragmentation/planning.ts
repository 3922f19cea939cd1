// Plans for thousands of pods take up to a second: they are made in slices.
import type { Clock } from '#core/clock.ts';
import { inSlices } from '#core/slices.ts';
import type { Peers } from '../peers.ts';
import type { SurveyedNode } from '../survey.ts';
import { type DefragPlan, openDefragPlanner, type PlannerInput } from './planner.ts';

/** Which of its nodes could be saved now, of those that may be considered. */
export async function planInSlices(
  clock: Clock,
  { name, survey, evaluation, groups }: { readonly name: string } & Omit<PlannerInput, 'others' | 'takers'>,
  peers: Pick<Peers, 'otherRooms' | 'takers'>,
  isConsidered: (node: SurveyedNode) => boolean = () => true,
): Promise<DefragPlan> {
  const others = peers.otherRooms(name);
  const planner = openDefragPlanner({ survey, evaluation, groups, others, takers: peers.takers() });
  await inSlices(clock, planner.nodes.filter(isConsidered), planner.consider);
  return planner.plan();
}

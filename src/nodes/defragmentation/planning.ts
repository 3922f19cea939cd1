// Plans for thousands of pods take up to a second: they are made in slices.
import type { Clock } from '#core/clock.ts';
import { inSlices } from '#core/slices.ts';
import type { Peers } from '../peers.ts';
import type { Snapshot } from '../snapshot.ts';
import { type DefragPlan, openDefragPlanner } from './planner.ts';

/** What of its nodes could be saved now; undefined while a pass has not seen them. */
export async function planInSlices(
  clock: Clock,
  { name, survey, evaluation, groups }: Pick<Snapshot, 'name' | 'survey' | 'evaluation' | 'groups'>,
  peers: Pick<Peers, 'otherRooms' | 'takers'>,
): Promise<DefragPlan | undefined> {
  if (!survey || !evaluation) return undefined;
  const others = peers.otherRooms(name);
  const planner = openDefragPlanner({ survey, evaluation, groups, others, takers: peers.takers() });
  await inSlices(clock, planner.nodes, planner.consider);
  return planner.plan();
}

import type { SliceHarness } from '#sim/slice/cloud.ts';
import type { SliceWorld } from '#sim/slice/world.ts';
import type { Law } from './suite.ts';

export type SliceLawId =
  | 'story'
  | 'boots'
  | 'dropped at writes'
  | 'dropped at calls'
  | 'lost replies'
  | 'late listing'
  | 'late refusal'
  | 'thousand'
  | 'equal pools'
  | 'odd names'
  | 'two clusters'
  | 'foreign machines'
  | 'removal'
  | 'restored'
  | 'broken page of documents'
  | 'broken page of machines'
  | 'empty listing'
  | 'wrong place'
  | 'source taken out'
  | 'moved'
  | 'outage'
  | 'bad document'
  | 'forbidden';

/** Each law opens the worlds that it needs. */
export interface SliceStage {
  close(): Promise<void>;
}

export interface SliceSuite extends SliceHarness {
  /** Laws that cannot hold or cannot be tried for this cloud, with the reason. */
  readonly excuses?: Readonly<Partial<Record<SliceLawId, string>>>;
  /** Every how many points are tried; default: as the run was started. */
  readonly stride?: number;
  /** In the short run, for a fake with many calls whose stories take long; odd. */
  readonly shortStride?: number;
  /** The most documents at a time; default: 10,000. */
  readonly mostDocuments?: number;
}

export type SliceLaw = Law<SliceLawId, SliceStage, SliceSuite & { openWorld(): Promise<SliceStage> }>;

/** The ids of a pool's machines that exist, as the fake knows them. */
export function machinesOf(world: SliceWorld, pool: string | undefined): string[] {
  const ours = world.machines().filter(({ mark }) => mark?.owner === pool);
  return ours.map(({ id }) => id).toSorted();
}

/** The actions that were ever asked of the cloud about these machines by id, their creation and their listing apart. */
export function callsAbout(
  { cloud }: SliceWorld,
  ids: readonly string[],
  { creation, additions = [], readings = [] }: SliceHarness,
): string[] {
  const about = cloud.fake.calls.filter((call) => ids.some((id) => JSON.stringify(call).includes(id)));
  const apart = [creation, ...additions, ...readings];
  return about.map(({ action }) => action).filter((action) => !apart.includes(action));
}

export const idsOf = (world: SliceWorld): string[] =>
  world
    .machines()
    .map(({ id }) => id)
    .toSorted();

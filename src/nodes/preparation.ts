// From an object to its groups as they are now, or to what keeps it from being served.
import { Fault, isUnclear } from '#core/fault.ts';
import { problemText } from '#core/problem.ts';
import { type FoundGroup, type FoundGroups, isObstacle, type Obstacle } from './group-finder.ts';
import type { KnownGroups } from './known-groups.ts';
import type { MadeGroups } from './made-groups.ts';
import type { ObjectWrites } from './object-writes.ts';
import { obstacleOfGroups, type PoolOf } from './obstacles.ts';
import { isPolicy, type Policy, readPolicy } from './policy.ts';
import type { Snapshot } from './snapshot.ts';

/** An object that can be served. */
export interface Prepared {
  readonly base: Snapshot;
  readonly policy: Policy;
  readonly found: readonly FoundGroup[];
}

/** One that cannot: the snapshot says why. */
export interface Unserved {
  readonly unserved: Snapshot;
  /** Another Muster writes its status. */
  readonly isForeign?: true;
  /** Time may help, not only a change of the object. */
  readonly isTemporary?: true;
}

export interface PreparationDeps {
  readonly known: KnownGroups;
  readonly objectWrites: ObjectWrites;
  readonly made: MadeGroups;
  readonly poolOf: PoolOf;
  isFrozen(): boolean;
}

const FROZEN: Obstacle = {
  reason: 'Frozen',
  message: 'A group is missing, and an operator has frozen everything. Run muster thaw.',
};

/** Its groups; those that are missing are made first. */
async function findOrMake(
  { known, made, isFrozen }: PreparationDeps,
  name: string,
  policy: Policy,
  signal: AbortSignal,
): Promise<FoundGroups | Obstacle> {
  const found = await known.find(name, policy, signal);
  if (isObstacle(found) || found.missing.length === 0) return found;
  if (isFrozen()) return FROZEN;
  const obstacle = await made.make(name, found.missing, signal);
  if (obstacle) return obstacle;
  const after = await known.find(name, policy, signal);
  if (isObstacle(after) || after.missing.length === 0) return after;
  throw new Fault('unavailable', `The group ${after.missing[0]?.policy.name} is made, and is not listed yet.`);
}

export async function prepare(
  deps: PreparationDeps,
  blank: Snapshot,
  signal: AbortSignal,
): Promise<Prepared | Unserved> {
  const { name, object } = blank;
  const { known, objectWrites, poolOf } = deps;
  if (!(await objectWrites.isOurs(object, signal))) {
    const obstacle = { reason: 'ServedByAnother', message: 'Another Muster serves it.' } as const;
    return { unserved: { ...blank, obstacle }, isForeign: true };
  }
  const policy = readPolicy(object.spec);
  if (!isPolicy(policy)) {
    const message = policy.map(problemText).join('; ');
    return { unserved: { ...blank, obstacle: { reason: 'SpecInvalid', message } } };
  }
  const found = await findOrMake(deps, name, policy, signal);
  if (isObstacle(found)) return { unserved: { ...blank, policy, obstacle: found }, isTemporary: true };
  const groups = await known.describe(name, policy, signal);
  const base = { ...blank, policy, groups, groupIds: groups.map(({ id }) => id) };
  const obstacle = obstacleOfGroups(groups, poolOf);
  if (!obstacle) return { base, policy, found: found.groups };
  return { unserved: { ...base, obstacle }, isTemporary: true };
}

export const isUnserved = (prepared: Prepared | Unserved): prepared is Unserved => 'unserved' in prepared;

/** Nothing tells how many GPUs a node has. */
export const NO_GPU: Obstacle = {
  reason: 'NoGPUInTemplate',
  message: 'Neither its nodes nor its instance template have a GPU. Set gpuResource, or name another group.',
};

/** A fault that will not pass by itself, as what people see of it. */
export function obstacleOfFault({ kind, message, remedy }: Fault): Obstacle | undefined {
  // An answer that is unclear, or asks to slow down, is often another one the next time.
  if (isUnclear(kind) || kind === 'throttled') return undefined;
  const isOfRights = kind === 'denied' || kind === 'unauthenticated';
  return { reason: isOfRights ? 'RightMissing' : 'Unreachable', message: `${message} ${remedy}` };
}

/**
 * What is known of an object before a pass has looked at it. The groups that it sized count as its own as long as nothing
 * newer is known: no other object takes them, and their nodes stay in the count of their account.
 */
export const blankSnapshot = (name: string, object: Snapshot['object'], at: number, before?: Snapshot): Snapshot => ({
  name,
  at,
  object,
  groups: before?.groups ?? [],
  groupIds: before?.groupIds ?? [],
  pending: 0,
  unfit: new Map(),
});

// From an object to its groups as they are now, or to what keeps it from being served.
import { problemText } from '#core/problem.ts';
import type { FoundGroup } from './group-finder.ts';
import type { KnownGroups } from './known-groups.ts';
import type { ObjectWrites } from './object-writes.ts';
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
}

export async function prepare(
  { known, objectWrites }: PreparationDeps,
  blank: Snapshot,
  signal: AbortSignal,
): Promise<Prepared | Unserved> {
  const { name, object } = blank;
  if (!(await objectWrites.isOurs(object, signal))) {
    const obstacle = { reason: 'ServedByAnother', message: 'Another Muster serves it.' } as const;
    return { unserved: { ...blank, obstacle }, isForeign: true };
  }
  const policy = readPolicy(object.spec);
  if (!isPolicy(policy)) {
    const message = policy.map(problemText).join('; ');
    return { unserved: { ...blank, obstacle: { reason: 'SpecInvalid', message } } };
  }
  const found = await known.find(name, policy, signal);
  if ('reason' in found) return { unserved: { ...blank, policy, obstacle: found }, isTemporary: true };
  const groups = await known.describe(name, policy, signal);
  const base = { ...blank, policy, groups, groupIds: groups.map(({ id }) => id) };
  const refusal = groups.find(({ state }) => state.refusal)?.state.refusal;
  if (!refusal) return { base, policy, found };
  const { reason, message, remedy } = refusal;
  return { unserved: { ...base, obstacle: { reason, message: `${message} ${remedy}` } }, isTemporary: true };
}

export const isUnserved = (prepared: Prepared | Unserved): prepared is Unserved => 'unserved' in prepared;

/** Nothing tells how many GPUs a node has. */
export const noGpu = (base: Snapshot): Unserved => {
  const message = 'Neither its nodes nor its instance template have a GPU. Set gpuResource, or name another group.';
  return { unserved: { ...base, obstacle: { reason: 'NoGPUInTemplate', message } }, isTemporary: true };
};

/** What is known of an object before anything of it was looked at. */
export const blankSnapshot = (name: string, object: Snapshot['object'], at: number): Snapshot => ({
  name,
  at,
  object,
  groups: [],
  groupIds: [],
  pending: 0,
  unfit: new Map(),
});

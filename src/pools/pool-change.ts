// What happens to a pool's row when a claim forms it.
import { shortId } from '#core/id.ts';
import type { Actor } from '#core/journal.ts';
import type { Pool, PoolSpec } from '#core/pool.ts';
import { type Change, put } from '#core/store.ts';
import type { NewEvent } from '#journal/journal.ts';
import type { Claim } from './claims.ts';
import { isOwner } from './contest.ts';
import type { Registry } from './registry.ts';
import { isSame } from './same.ts';

export const describeDocument = ({ source, key }: Pick<Claim, 'source' | 'key'>): string =>
  `source "${source}" (document "${key}")`;

/** Who a change that a sync brings is from. */
export const actorOf = ({ source, key }: Pick<Claim, 'source' | 'key'>): Actor => ({
  who: `source:${source}`,
  from: key,
});

function differingKeys<T extends object>(before: T, after: T): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof T & string>;
  return [...keys].filter((key) => !isSame(before[key], after[key]));
}

/** Paths of what differs, without the values: those may be secret. */
function differences(before: PoolSpec, after: PoolSpec): string[] {
  const keys = differingKeys(before, after).filter((key) => key !== 'scaling');
  return [...keys, ...differingKeys(before.scaling, after.scaling).map((key) => `scaling.${key}`)];
}

function newPoolId({ deps }: Registry): string {
  let id = shortId(deps.random);
  while (deps.store.view.pools.get(id)) id = shortId(deps.random);
  return id;
}

function eventOf(before: Pool | undefined, after: Pool, claim: Claim): NewEvent {
  const about = { subject: `pool/${after.name}`, pool: after.id };
  const where = describeDocument(claim);
  if (!before) return { ...about, kind: 'pool.created', message: `Created from ${where}.` };
  const changed = differences(before.spec, after.spec);
  const fields = changed.length > 0 ? { fields: { changed, version: claim.version } } : {};
  if (!isOwner(before, claim)) {
    const message = `Moved from ${describeDocument(before.owner)} to ${where}; its workers stay.`;
    return { ...about, kind: 'pool.transferred', message, ...fields };
  }
  if (before.removal) return { ...about, kind: 'pool.restored', message: `Defined again by ${where}.`, ...fields };
  const message = changed.length > 0 ? `Changed by ${where}.` : `A new version of ${where} changes nothing in effect.`;
  return { ...about, kind: 'pool.changed', message, ...fields };
}

/** The pool as this claim wants it: the very same where it is so already. */
export function poolFrom(
  before: Pool | undefined,
  claim: Claim & { readonly spec: PoolSpec },
  { at, newId }: { readonly at: number; readonly newId: () => string },
): Pool {
  const { source, key, version } = claim;
  const owner = { source, key, version };
  if (!before) {
    const { spec } = claim;
    return { id: newId(), name: spec.name, spec, owner, createdAt: at, changedAt: at, revision: 1 };
  }
  const spec = isSame(before.spec, claim.spec) ? before.spec : claim.spec;
  if (!before.removal && isSame(before.owner, owner) && before.spec === spec) return before;
  return { ...before, spec, owner, changedAt: at, revision: before.revision + 1, removal: undefined };
}

/** The pool as this claim wants it, and the changes that make it so: none where it is so already. */
export function formPool(
  registry: Registry,
  before: Pool | undefined,
  {
    claim,
    actor = actorOf(claim),
  }: { readonly claim: Claim & { readonly spec: PoolSpec }; readonly actor?: Actor | undefined },
): { readonly pool: Pool; readonly changes: readonly Change[] } {
  const pool = poolFrom(before, claim, { at: registry.deps.clock.now(), newId: () => newPoolId(registry) });
  if (pool === before) return { pool, changes: [] };
  return { pool, changes: [put('pools', pool), registry.deps.journal.event(eventOf(before, pool, claim), actor)] };
}

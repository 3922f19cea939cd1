// Applies the documents of all sources for one name: the pool, its owner, and the state of each document.
import { shortId } from '#core/id.ts';
import type { Actor } from '#core/journal.ts';
import type { Pool, PoolSpec } from '#core/pool.ts';
import { type DocumentState, documentId } from '#core/source.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { NewEvent } from '#journal/journal.ts';
import { drainChanges, endDrainChanges } from './drain-pool.ts';
import { isSame } from './equal-data.ts';
import { isDeletedByWriter, isForcedByWriter } from './missing-documents.ts';
import { isOwner, type Ownership, ownershipOf } from './ownership.ts';
import type { ParsedDocument } from './parsed-documents.ts';
import type { Registry } from './registry.ts';

export const describeDocument = ({ source, key }: Pick<ParsedDocument, 'source' | 'key'>): string =>
  `source "${source}" (document "${key}")`;

/** The actor of changes by a sync. */
export const actorOf = ({ source, key }: Pick<ParsedDocument, 'source' | 'key'>): Actor => ({
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

function eventOf(before: Pool | undefined, after: Pool, parsed: ParsedDocument): NewEvent {
  const about = { subject: `pool/${after.name}`, pool: after.id };
  const where = describeDocument(parsed);
  if (!before) return { ...about, kind: 'pool.created', message: `Created from ${where}.` };
  const changed = differences(before.spec, after.spec);
  const fields = changed.length > 0 ? { fields: { changed, version: parsed.version } } : {};
  if (!isOwner(before, parsed)) {
    const message = `Moved from ${describeDocument(before.owner)} to ${where}; its workers stay.`;
    return { ...about, kind: 'pool.transferred', message, ...fields };
  }
  if (before.removal) return { ...about, kind: 'pool.restored', message: `Defined again by ${where}.`, ...fields };
  const message = changed.length > 0 ? `Changed by ${where}.` : `A new version of ${where} changes no setting.`;
  return { ...about, kind: 'pool.changed', message, ...fields };
}

/** The pool as this document wants it: the very same where it is so already. */
export function poolFrom(
  before: Pool | undefined,
  parsed: ParsedDocument & { readonly spec: PoolSpec },
  { at, newId }: { readonly at: number; readonly newId: () => string },
): Pool {
  const { source, key, version } = parsed;
  const owner = { source, key, version };
  if (!before) {
    const { spec } = parsed;
    return { id: newId(), name: spec.name, spec, owner, createdAt: at, changedAt: at, revision: 1 };
  }
  const spec = isSame(before.spec, parsed.spec) ? before.spec : parsed.spec;
  if (!before.removal && isSame(before.owner, owner) && before.spec === spec) return before;
  return { ...before, spec, owner, changedAt: at, revision: before.revision + 1, removal: undefined };
}

/** The pool as this document wants it, and the changes that make it so: none where it is so already. */
export function formPool(
  registry: Registry,
  before: Pool | undefined,
  {
    parsed,
    actor = actorOf(parsed),
  }: { readonly parsed: ParsedDocument & { readonly spec: PoolSpec }; readonly actor?: Actor | undefined },
): { readonly pool: Pool; readonly changes: readonly Change[] } {
  const pool = poolFrom(before, parsed, { at: registry.deps.clock.now(), newId: () => newPoolId(registry) });
  if (pool === before) return { pool, changes: [] };
  return { pool, changes: [put('pools', pool), registry.deps.journal.event(eventOf(before, pool, parsed), actor)] };
}

/** Pools that no document defines any more. */
export interface Drops {
  note(pool: Pool): void;
  clear(pool: Pool): void;
}

/** Answers whether anything changed. */
export type ApplyOwnership = (name: string, actor?: Actor) => boolean;

/** The row of a document that was read, unless it is as it should be already. */
export function documentChange(
  { deps }: Registry,
  { source, key, version }: ParsedDocument,
  state: Pick<DocumentState, 'pool' | 'fault'>,
): Change[] {
  const id = documentId(source, key);
  const before = deps.store.view.documents.get(id);
  const readAt = before?.version === version ? before.readAt : deps.clock.now();
  const row: DocumentState = { ...before, ...state, id, source, key, version, readAt, missed: 0 };
  return isSame(before, row) ? [] : [put('documents', row)];
}

function rivalsNotice(name: string, losers: readonly ParsedDocument[]): DocumentState['fault'] {
  const [first] = losers;
  if (!first) return undefined;
  const others = losers.length > 1 ? ` and ${losers.length - 1} more` : '';
  const message = `Pool "${name}" is defined a second time by ${describeDocument(first)}${others}. This definition is in force; remove or rename the other.`;
  return { kind: 'conflict', message };
}

function winnerChanges(registry: Registry, ownership: Ownership, actor?: Actor): Change[] {
  const { winner, pool: before, name } = ownership;
  if (!winner?.spec) return [];
  const { pool, changes } = formPool(registry, before, { parsed: { ...winner, spec: winner.spec }, actor });
  // One copy of the definition in memory is enough.
  if (pool.spec !== winner.spec) registry.parsedDocuments.set({ ...winner, spec: pool.spec });
  return [
    ...changes,
    ...documentChange(registry, winner, { pool: pool.id, fault: rivalsNotice(name, ownership.losers) }),
    ...leftBehind(registry, before, pool),
  ];
}

/** The row of the document that owned the pool before, where no document stands there any more. */
function leftBehind({ deps, parsedDocuments }: Registry, before: Pool | undefined, { owner }: Pool): Change[] {
  if (!before || (before.owner.source === owner.source && before.owner.key === owner.key)) return [];
  const row = deps.store.view.documents.get(documentId(before.owner.source, before.owner.key));
  const isGone = !parsedDocuments.get(before.owner.source, before.owner.key) && row?.pool === before.id;
  return isGone ? [drop('documents', row.id)] : [];
}

/** A pool whose owner could not be asked yet: the document waits, and what was known of it stays. */
function waitingChanges(registry: Registry, loser: ParsedDocument, pool: Pool): Change[] {
  const before = registry.deps.store.view.documents.get(documentId(loser.source, loser.key));
  if (before?.version === loser.version && before.missed === 0) return [];
  const message = `Pool "${pool.name}" is still owned by ${describeDocument(pool.owner)}. It moves here when that document is gone.`;
  return documentChange(registry, loser, { pool: undefined, fault: { kind: 'conflict', message } });
}

export const secondDefinition = (name: string, owner: Pick<ParsedDocument, 'source' | 'key'>): string =>
  `Pool "${name}" is owned by ${describeDocument(owner)}; this second definition changes nothing.`;

export const ONE_OF_TWO = 'Remove or rename one of the two.';

function loserChanges(registry: Registry, loser: ParsedDocument, { id, name, owner }: Pool): Change[] {
  const before = registry.deps.store.view.documents.get(documentId(loser.source, loser.key));
  const message = `${secondDefinition(name, owner)} ${ONE_OF_TWO}`;
  const changes = documentChange(registry, loser, { pool: undefined, fault: { kind: 'conflict', message } });
  if (before?.fault?.message === message) return changes;
  const event = registry.deps.journal.event(
    {
      kind: 'pool.conflict',
      subject: `pool/${name}`,
      pool: id,
      message: `Defined by ${describeDocument(owner)} and again by ${describeDocument(loser)}; the first stays in force.`,
    },
    actorOf(loser),
  );
  return [...changes, event];
}

function losersChanges(registry: Registry, { losers, ownerStatus, winner, name }: Ownership): Change[] {
  const pool = registry.poolNamed(name);
  if (!pool) return [];
  if (ownerStatus === 'waiting' && !winner) return losers.flatMap((loser) => waitingChanges(registry, loser, pool));
  return losers.flatMap((loser) => loserChanges(registry, loser, pool));
}

export const deletedReason = (owner: Pool['owner']): string => `Deleted in ${describeDocument(owner)}.`;

export function makeApplyOwnership(registry: Registry, drops: Drops): ApplyOwnership {
  function apply(changes: readonly Change[]): boolean {
    if (changes.length === 0) return false;
    void registry.commit(changes);
    return true;
  }

  return (name, actor) => {
    const ownership = ownershipOf(registry, name);
    const isFormed = apply(winnerChanges(registry, ownership, actor));
    const isReported = apply(losersChanges(registry, ownership));
    const pool = registry.poolNamed(name);
    const isDropped = pool && ownership.ownerStatus === 'dropped' && !ownership.winner && !pool.removal;
    const isDeleted = isDropped && isDeletedByWriter(registry, pool);
    if (isDropped && !isDeleted) drops.note(pool);
    else if (pool) drops.clear(pool);
    const isForced = pool && isForcedByWriter(registry, pool);
    if (isDeleted) apply(drainChanges(registry, pool, { why: deletedReason(pool.owner), isForced }));
    else if (isForced) apply(endDrainChanges(registry, pool));
    return isFormed || isReported || isDeleted === true;
  };
}

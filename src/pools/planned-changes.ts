// What would change if some sources held other documents: the rules of ownership and the removal guard, on a copy.
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { API_SOURCE, documentId } from '#core/source.ts';
import { deletedReason, describeDocument, ONE_OF_TWO, poolFrom, secondDefinition } from './apply-ownership.ts';
import { isDeletedByWriter, MISSES_TO_DROP } from './missing-documents.ts';
import { isOwner, type Ownership, ownershipOf } from './ownership.ts';
import { keepParsedDocuments, type ParsedDocument } from './parsed-documents.ts';
import type { DeletedDocuments, Registry, SourceRunner } from './registry.ts';
import { judgeRemoval } from './removal-guard.ts';
import { isRemovalHeld } from './status.ts';

export const POOL_CHANGES = ['create', 'change', 'move', 'restore', 'remove', 'hold'] as const;
/** `move`: to another document or source; its workers stay. `hold`: a removal that would wait for approval. */
export type PoolChange = (typeof POOL_CHANGES)[number];

/** One pool that would change, and how. */
export interface PlannedPool {
  readonly name: string;
  readonly change: PoolChange;
  readonly before?: Pool | undefined;
  /** As it would be; a new one has a placeholder for its id. */
  readonly after: Pool;
  readonly why: string;
}

/** A document that would be refused, or would lose its name to another. */
export interface Refusal {
  readonly source: string;
  readonly key: string;
  /** The pool that it forms now, and that would stay as it is. */
  readonly pool?: string | undefined;
  readonly fault: Fault;
}

/** What documents would change: the answer of `Foresight`. */
export interface ChangePlan {
  readonly pools: readonly PlannedPool[];
  readonly unchanged: readonly string[];
  readonly refused: readonly Refusal[];
}

/** By source, all that it would say. */
export type DocumentsBySource = ReadonlyMap<string, ReadonlyMap<string, ParsedDocument>>;

/** By source and key: what its writer would have deleted. */
export type Deleted = ReadonlyMap<string, DeletedDocuments>;

/** In place of the id of a pool that does not exist yet. */
export const NO_ID = 'nobody';

/** The world as it would be once these sources had been read twice, and said this. */
function shadowOf(registry: Registry, said: DocumentsBySource, deleted: Deleted): Registry {
  const parsedDocuments = keepParsedDocuments();
  const runners = new Map(registry.runners);
  for (const source of [API_SOURCE, ...runners.keys()]) {
    for (const parsed of (said.get(source) ?? registry.parsedDocuments.of(source)).values())
      parsedDocuments.set(parsed);
  }
  for (const [source, documents] of said) {
    const runner = runners.get(source);
    const still = runner && new Map([...runner.deleted].filter(([key]) => !documents.has(key)));
    if (runner)
      runners.set(source, { ...twiceRead(registry, runner), deleted: deleted.get(source) ?? still ?? new Map() });
  }
  const { store } = registry.deps;
  const documents: typeof store.view.documents = {
    ...store.view.documents,
    // What counts the listings in which a document was missing counts none of these.
    get(id) {
      const row = store.view.documents.get(id);
      return row && said.has(row.source) ? undefined : row;
    },
  };
  const deps = { ...registry.deps, store: { ...store, view: { ...store.view, documents } } };
  return { ...registry, parsedDocuments, runners, deps };
}

function twiceRead({ deps }: Registry, runner: SourceRunner): SourceRunner {
  const owned = [...deps.store.view.pools.by('source', runner.opened.id)];
  return {
    ...runner,
    readTick: Math.max(1, runner.readTick),
    timing: { ...runner.timing, failures: 0 },
    renamedAway: new Map(owned.map(({ name }) => [name, MISSES_TO_DROP])),
  };
}

function changeOf(before: Pool | undefined, after: Pool): PoolChange | undefined {
  if (!before) return 'create';
  if (before.removal) return 'restore';
  if (!isOwner(before, after.owner)) return 'move';
  return before.spec === after.spec ? undefined : 'change';
}

function whyOf(change: PoolChange, before: Pool | undefined, { owner }: Pool): string {
  const where = describeDocument(owner);
  if (change === 'create') return `Defined by ${where}.`;
  if (change === 'restore') return `Defined again by ${where} while it is being removed.`;
  if (change === 'move' && before) return `Moves from ${describeDocument(before.owner)} to ${where}; its workers stay.`;
  return `Changed by ${where}.`;
}

/** What the winner would make of its pool; nothing where the pool stays as it is. */
function formedBy({ name, pool: before, winner }: Ownership, at: number): PlannedPool | undefined {
  if (!winner?.spec) return undefined;
  const after = poolFrom(before, { ...winner, spec: winner.spec }, { at, newId: () => NO_ID });
  const change = changeOf(before, after);
  return change && { name, change, before, after, why: whyOf(change, before, after) };
}

/** What would become of these names, and of the documents that say so. */
export function plannedChanges(
  registry: Registry,
  said: DocumentsBySource,
  { names, deleted = new Map() }: { readonly names: Iterable<string>; readonly deleted?: Deleted },
): ChangePlan {
  const shadow = shadowOf(registry, said, deleted);
  const at = registry.deps.clock.now();
  const pools: PlannedPool[] = [];
  const unchanged: string[] = [];
  const dropped: Pool[] = [];
  const refused = faulty(registry, said);
  for (const name of new Set(names)) {
    const ownership = ownershipOf(shadow, name);
    const { pool, winner, ownerStatus } = ownership;
    refused.push(...rivals(ownership, said));
    const formed = formedBy(ownership, at);
    if (formed) pools.push(formed);
    else if (pool && !pool.removal && !winner && ownerStatus === 'dropped') dropped.push(pool);
    else if (pool) unchanged.push(name);
  }
  return { pools: [...pools, ...removals(shadow, dropped)].toSorted(byName), unchanged: unchanged.toSorted(), refused };
}

const byName = (a: PlannedPool, b: PlannedPool): number => (a.name < b.name ? -1 : 1);

function faulty({ deps }: Registry, said: DocumentsBySource): Refusal[] {
  const { documents, pools } = deps.store.view;
  return [...said.values()].flatMap((parsedDocuments) =>
    [...parsedDocuments.values()].flatMap(({ source, key, fault }): Refusal[] => {
      if (!fault) return [];
      const owned = documents.get(documentId(source, key))?.pool;
      return [{ source, key, pool: owned === undefined ? undefined : pools.get(owned)?.name, fault }];
    }),
  );
}

function rivals({ name, pool, winner, losers }: Ownership, said: DocumentsBySource): readonly Refusal[] {
  const owner = winner ?? pool?.owner;
  if (!owner) return [];
  return losers
    .filter(({ source }) => said.has(source))
    .map(({ source, key }) => {
      const fault = new Fault('conflict', secondDefinition(name, owner), { remedy: ONE_OF_TWO });
      return { source, key, pool: name, fault };
    });
}

/** Source by source, as the removal guard would judge them. */
function removals(shadow: Registry, dropped: readonly Pool[]): readonly PlannedPool[] {
  const { clock } = shadow.deps;
  const isHeld = ({ owner }: Pool): boolean => isRemovalHeld(shadow.deps.store, owner);
  const groupOf = (pool: Pool): string => `${isDeletedByWriter(shadow, pool)} ${isHeld(pool)} ${pool.owner.source}`;
  const groups = Map.groupBy(dropped, groupOf);
  return [...groups.values()].flatMap((pools) => {
    const [first] = pools as [Pool];
    const { owner } = first;
    const { source } = owner;
    const isDeleted = isDeletedByWriter(shadow, { owner });
    const heldApart = isHeld(first) ? 0 : (groups.get(`false true ${source}`) ?? []).length;
    const guarded = { pools, sinceTick: 0, isOwnerAsked: false, isHeld: isHeld(first), heldApart };
    const verdict =
      isDeleted || source === API_SOURCE ? ({ do: 'remove' } as const) : judgeRemoval(shadow, source, guarded);
    return pools.map((before): PlannedPool => {
      const { name } = before;
      if (verdict.do === 'hold') return { name, change: 'hold', before, after: before, why: verdict.why };
      const why = isDeleted ? deletedReason(before.owner) : `Source "${source}" no longer defines it.`;
      const removal = { at: clock.now(), deadlineAt: clock.now() + before.spec.drainTimeoutMs, why };
      return { name, change: 'remove', before, after: { ...before, removal, revision: before.revision + 1 }, why };
    });
  });
}

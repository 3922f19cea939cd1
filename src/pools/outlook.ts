// What would change if some sources held other documents: the rules of claims, contests and guards, on a copy.
import { Fault } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import { API_SOURCE, documentId } from '#core/source.ts';
import { type Claim, keepClaims } from './claims.ts';
import { type Contest, contestFor, isOwner } from './contest.ts';
import { judge } from './hold.ts';
import { describeDocument, poolFrom } from './pool-change.ts';
import type { Feed, Registry } from './registry.ts';
import { ONE_OF_TWO, secondDefinition } from './settle.ts';
import { MISSES_TO_DROP } from './standing.ts';

export const POOL_CHANGES = ['create', 'change', 'move', 'restore', 'remove', 'hold'] as const;
/** `move`: to another document or source; its workers stay. `hold`: a removal that would wait for approval. */
export type PoolChange = (typeof POOL_CHANGES)[number];

export interface PlannedPool {
  readonly name: string;
  readonly change: PoolChange;
  readonly before?: Pool | undefined;
  /** As it would be; a new one has an id of nobody. */
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

export interface Outlook {
  readonly pools: readonly PlannedPool[];
  readonly unchanged: readonly string[];
  readonly refused: readonly Refusal[];
}

/** By source, all that it would say. */
export type Said = ReadonlyMap<string, ReadonlyMap<string, Claim>>;

export const NOBODY = 'nobody';

/** The world as it would be once these sources had been read twice, and said this. */
function shadowOf(registry: Registry, said: Said): Registry {
  const claims = keepClaims();
  const feeds = new Map(registry.feeds);
  for (const source of [API_SOURCE, ...feeds.keys()]) {
    for (const claim of (said.get(source) ?? registry.claims.of(source)).values()) claims.set(claim);
  }
  for (const source of said.keys()) {
    const feed = feeds.get(source);
    if (feed) feeds.set(source, twiceRead(registry, feed));
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
  return { ...registry, claims, feeds, deps };
}

function twiceRead({ deps }: Registry, feed: Feed): Feed {
  const owned = [...deps.store.view.pools.by('source', feed.opened.id)];
  return {
    ...feed,
    readTick: Math.max(1, feed.readTick),
    timing: { ...feed.timing, failures: 0 },
    outgrown: new Map(owned.map(({ name }) => [name, MISSES_TO_DROP])),
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

/** What this contest would make of its pool; nothing where the pool stays as it is. */
function formedBy({ name, pool: before, winner }: Contest, at: number): PlannedPool | undefined {
  if (!winner?.spec) return undefined;
  const after = poolFrom(before, { ...winner, spec: winner.spec }, { at, newId: () => NOBODY });
  const change = changeOf(before, after);
  return change && { name, change, before, after, why: whyOf(change, before, after) };
}

/** What would become of these names, and of the documents that say so. */
export function outlookOf(registry: Registry, said: Said, names: Iterable<string>): Outlook {
  const shadow = shadowOf(registry, said);
  const at = registry.deps.clock.now();
  const pools: PlannedPool[] = [];
  const unchanged: string[] = [];
  const dropped: Pool[] = [];
  const refused = faulty(registry, said);
  for (const name of new Set(names)) {
    const contest = contestFor(shadow, name);
    const { pool, winner, standing } = contest;
    refused.push(...rivals(contest, said));
    const formed = formedBy(contest, at);
    if (formed) pools.push(formed);
    else if (pool && !pool.removal && !winner && standing === 'dropped') dropped.push(pool);
    else if (pool) unchanged.push(name);
  }
  return { pools: [...pools, ...removals(shadow, dropped)].toSorted(byName), unchanged: unchanged.toSorted(), refused };
}

const byName = (a: PlannedPool, b: PlannedPool): number => (a.name < b.name ? -1 : 1);

function faulty({ deps }: Registry, said: Said): Refusal[] {
  const { documents, pools } = deps.store.view;
  return [...said.values()].flatMap((claims) =>
    [...claims.values()].flatMap(({ source, key, fault }): Refusal[] => {
      if (!fault) return [];
      const owned = documents.get(documentId(source, key))?.pool;
      return [{ source, key, pool: owned === undefined ? undefined : pools.get(owned)?.name, fault }];
    }),
  );
}

function rivals({ name, pool, winner, losers }: Contest, said: Said): readonly Refusal[] {
  const owner = winner ?? pool?.owner;
  if (!owner) return [];
  return losers
    .filter(({ source }) => said.has(source))
    .map(({ source, key }) => {
      const fault = new Fault('conflict', secondDefinition(name, owner), { remedy: ONE_OF_TWO });
      return { source, key, pool: name, fault };
    });
}

/** Source by source, as the guards would judge them. */
function removals(shadow: Registry, dropped: readonly Pool[]): readonly PlannedPool[] {
  const { clock } = shadow.deps;
  return [...Map.groupBy(dropped, ({ owner }) => owner.source)].flatMap(([source, pools]) => {
    const verdict =
      source === API_SOURCE
        ? ({ do: 'remove' } as const)
        : judge(shadow, source, { pools, sinceTick: 0, isOwnerAsked: false });
    return pools.map((before): PlannedPool => {
      const { name } = before;
      if (verdict.do === 'hold') return { name, change: 'hold', before, after: before, why: verdict.why };
      const why = `Source "${source}" no longer defines it.`;
      const removal = { at: clock.now(), deadlineAt: clock.now() + before.spec.drainTimeoutMs, why };
      return { name, change: 'remove', before, after: { ...before, removal, revision: before.revision + 1 }, why };
    });
  });
}

// Status of sources and documents, computed from the store and the timings in memory.
import type { Pool } from '#core/pool.ts';
import { API_SOURCE, type SourceState } from '#core/source.ts';
import type { Store } from '#core/store.ts';
import type { SyncTiming } from './registry.ts';

export interface SourceStatus {
  readonly id: string;
  readonly kind: string;
  readonly place?: string | undefined;
  /** False for a source that vanished from the configuration and still owns pools. */
  readonly isConfigured: boolean;
  readonly everyMs?: number | undefined;
  readonly lastTriedAt?: number | undefined;
  readonly lastGoodAt?: number | undefined;
  /** Since the last good sync. */
  readonly ageMs?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly failures: number;
  readonly fault?: SourceState['fault'];
  readonly held?: SourceState['held'];
  readonly pools: number;
  readonly documents: number;
  /** What it says of how it read its configuration. */
  readonly notes: readonly string[];
  /** Documents with a fault: refused, or in conflict. */
  readonly faulty: number;
  /** Documents that the last good listing lacked, and whose pools still stand. */
  readonly missing: number;
}

/** Why the removal of a pool is held, and of how many pools of its source with it. */
export interface HeldRemoval {
  readonly at: number;
  readonly why: string;
  readonly pools: number;
}

const heldKeys = new WeakMap<object, ReadonlySet<string>>();

/** Whether the removal of a pool with that owner waits for approval. */
export function isRemovalHeld({ view }: Pick<Store, 'view'>, { source, key }: Pool['owner']): boolean {
  const held = view.sources.get(source)?.held;
  if (!held) return false;
  const keys = heldKeys.get(held) ?? new Set(held.keys);
  heldKeys.set(held, keys);
  return keys.has(key);
}

/** Set while the source of a pool no longer defines it, and its removal waits for approval. */
export function heldRemovalOf(store: Pick<Store, 'view'>, pool: Pool): HeldRemoval | undefined {
  const held = store.view.sources.get(pool.owner.source)?.held;
  if (!held || pool.removal || !isRemovalHeld(store, pool.owner)) return undefined;
  return { at: held.at, why: held.why, pools: held.keys.length };
}

/** The command that approves what is held of a source, if that is still so many pools. */
export const approveCommand = (source: string, pools: number): string =>
  `muster source approve ${source} --pools ${pools}`;

/** The folder that a document lies in, by which teams part their pools. */
export function teamOf({ view }: Pick<StatusWorld, 'view'>, source: string, key: string): string | undefined {
  const below = belowRoot(key, view.sources.get(source)?.place);
  const slash = below.lastIndexOf('/');
  return slash > 0 ? below.slice(0, slash) : undefined;
}

/** A source may give its keys whole, as Parameter Store does: what stands in front of all of them names no team. */
function belowRoot(key: string, place: string | undefined): string {
  const path = place?.slice(place.indexOf('/')) ?? '';
  const whole = path === '' || path.endsWith('/') ? path : `${path}/`;
  // Names of objects in a bucket begin without a slash.
  const root = key.startsWith('/') ? whole : whole.slice(1);
  return root !== '' && key.startsWith(root) ? key.slice(root.length) : key;
}

/** What the status is computed from. */
export interface StatusWorld {
  readonly view: Store['view'];
  readonly timings: ReadonlyMap<string, SyncTiming>;
  readonly nowMs: number;
}

function countDocuments({ view }: StatusWorld, source: string): { faulty: number; missing: number } {
  let faulty = 0;
  let missing = 0;
  for (const { fault, missed } of view.documents.by('source', source)) {
    if (fault) faulty += 1;
    if (missed > 0) missing += 1;
  }
  return { faulty, missing };
}

function statusOf(world: StatusWorld, row: SourceState): SourceStatus {
  const { view, timings, nowMs } = world;
  const timing = timings.get(row.id);
  const lastGoodAt = timing?.lastGoodAt ?? row.lastGoodAt;
  return {
    id: row.id,
    kind: row.kind,
    place: row.place,
    isConfigured: timing !== undefined || row.id === API_SOURCE,
    everyMs: timing?.everyMs,
    lastTriedAt: timing?.lastTriedAt,
    lastGoodAt,
    ageMs: lastGoodAt === undefined ? undefined : Math.max(0, nowMs - lastGoodAt),
    durationMs: timing?.durationMs,
    failures: timing?.failures ?? 0,
    notes: timing?.notes ?? [],
    fault: row.fault,
    held: row.held,
    pools: view.pools.count('source', row.id),
    documents: view.documents.count('source', row.id),
    ...countDocuments(world, row.id),
  };
}

/** One source; undefined where there is none of that id. */
export function sourceStatus(world: StatusWorld, id: string): SourceStatus | undefined {
  const row = id === API_SOURCE ? { id, kind: API_SOURCE } : world.view.sources.get(id);
  return row && statusOf(world, row);
}

/** All sources by id: the API itself, the configured ones, and those that vanished but still own pools. */
export function listSources(world: StatusWorld): readonly SourceStatus[] {
  const rows = [{ id: API_SOURCE, kind: API_SOURCE }, ...world.view.sources.all()];
  return rows.map((row) => statusOf(world, row)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

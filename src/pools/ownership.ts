// Who owns a name: pure rules over documents and existing pools.
import type { Pool } from '#core/pool.ts';
import { API_SOURCE } from '#core/source.ts';
import { type OwnerStatus, ownerStatusOf } from './missing-documents.ts';
import type { ParsedDocument } from './parsed-documents.ts';
import type { Registry } from './registry.ts';

/** All that want one name. */
export interface Ownership {
  readonly name: string;
  readonly pool: Pool | undefined;
  /** Of the pool's owner; undefined where there is no pool. */
  readonly ownerStatus: OwnerStatus | undefined;
  /** The document that forms the pool from now on; undefined: the pool, if any, stays as it is. */
  readonly winner: ParsedDocument | undefined;
  readonly losers: readonly ParsedDocument[];
}

function rank({ runners }: Registry, source: string): number {
  if (source === API_SOURCE) return -1;
  return [...runners.keys()].indexOf(source);
}

/** In the order of the configuration, then by age, then by key, so that the same world always gives the same owner. */
function ranked(registry: Registry, parsedDocuments: readonly ParsedDocument[]): readonly ParsedDocument[] {
  if (parsedDocuments.length < 2) return parsedDocuments;
  const ranks = new Map(parsedDocuments.map(({ source }) => [source, rank(registry, source)]));
  const rankOf = ({ source }: ParsedDocument): number => ranks.get(source) ?? 0;
  const ageOf = ({ since = 0 }: ParsedDocument): number => since;
  return parsedDocuments.toSorted((a, b) => rankOf(a) - rankOf(b) || ageOf(a) - ageOf(b) || (a.key < b.key ? -1 : 1));
}

export const isOwner = (pool: Pool, { source, key }: Pick<ParsedDocument, 'source' | 'key'>): boolean =>
  pool.owner.source === source && pool.owner.key === key;

/** The first owner stays while it defines the pool or cannot be read; only then others are considered. */
export function ownershipOf(registry: Registry, name: string): Ownership {
  const parsedDocuments = ranked(registry, registry.parsedDocuments.named(name));
  const pool = registry.poolNamed(name);
  const ownerStatus = pool && ownerStatusOf(registry, pool);
  const base = { name, pool, ownerStatus };
  if (!pool || ownerStatus === 'dropped')
    return { ...base, winner: parsedDocuments[0], losers: parsedDocuments.slice(1) };
  const winner = ownerStatus === 'present' ? parsedDocuments.find((parsed) => isOwner(pool, parsed)) : undefined;
  return { ...base, winner, losers: parsedDocuments.filter((parsed) => parsed !== winner) };
}

// Who owns a name: pure rules over what the sources say and what exists.
import type { Pool } from '#core/pool.ts';
import { API_SOURCE } from '#core/source.ts';
import type { Claim } from './claims.ts';
import type { Registry } from './registry.ts';
import { type Standing, standingOf } from './standing.ts';

/** All that want one name. */
export interface Contest {
  readonly name: string;
  readonly pool: Pool | undefined;
  /** Of the pool's owner; undefined where there is no pool. */
  readonly standing: Standing | undefined;
  /** The claim that forms the pool from now on; undefined: the pool, if any, stays as it is. */
  readonly winner: Claim | undefined;
  readonly losers: readonly Claim[];
}

function rank({ feeds }: Registry, source: string): number {
  if (source === API_SOURCE) return -1;
  return [...feeds.keys()].indexOf(source);
}

/** In the order of the configuration, then by key, so that the same world always gives the same owner. */
function ranked(registry: Registry, claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < 2) return claims;
  const ranks = new Map(claims.map(({ source }) => [source, rank(registry, source)]));
  const rankOf = ({ source }: Claim): number => ranks.get(source) ?? 0;
  return claims.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.key < b.key ? -1 : 1));
}

export const isOwner = (pool: Pool, { source, key }: Pick<Claim, 'source' | 'key'>): boolean =>
  pool.owner.source === source && pool.owner.key === key;

/** The first owner stays as long as it wants the pool or cannot be asked; only then others come into it. */
export function contestFor(registry: Registry, name: string): Contest {
  const claims = ranked(registry, registry.claims.named(name));
  const pool = registry.poolNamed(name);
  const standing = pool && standingOf(registry, pool);
  const base = { name, pool, standing };
  if (!pool || standing === 'dropped') return { ...base, winner: claims[0], losers: claims.slice(1) };
  const winner = standing === 'present' ? claims.find((claim) => isOwner(pool, claim)) : undefined;
  return { ...base, winner, losers: claims.filter((claim) => claim !== winner) };
}

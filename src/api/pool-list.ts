import { z } from 'zod';
import { POOL_PHASES, type Pool, poolPhase } from '#core/pool.ts';
import type { ApiDeps } from './deps.ts';
import type { FleetSums } from './fleet-sums.ts';
import type { WholeApi } from './noun.ts';
import { selectPage } from './page.ts';
import { type Route, route } from './route.ts';
import { freezeOf, heldOf, shownPool } from './shown/pool.ts';
import { PoolList } from './wire/pool.ts';
import { Flag, Name, paging } from './wire/shared.ts';

export const POOL_ORDERS = ['name', 'queued', 'dollars', 'trouble'] as const;

/** Its machines cannot be had, its removal waits for approval, it is frozen, or no worker of it can take what is queued. */
function needsSomebody({ store, workers }: ApiDeps, pool: Pool): boolean {
  const hasUnmatched = store.view.sessions.count('unmatched', pool.id) > 0;
  const trouble = workers.troubled().has(pool.id) ? workers.trouble(pool.id) : undefined;
  return (
    hasUnmatched || trouble !== undefined || freezeOf(pool.id, store) !== undefined || heldOf(pool, store) !== undefined
  );
}

type Rank = (pool: Pool) => number;

/** What a list is ordered by, the largest first; undefined: by name. */
async function rankBy(
  deps: ApiDeps,
  order: (typeof POOL_ORDERS)[number],
  sums: () => Promise<FleetSums>,
): Promise<Rank | undefined> {
  const queued: Rank = ({ id }) => deps.store.view.sessions.count('queue', id);
  if (order === 'queued') return queued;
  if (order === 'trouble') return (pool) => (needsSomebody(deps, pool) ? 1 + queued(pool) : 0);
  if (order === 'name') return undefined;
  const { priceNanoOf } = await sums();
  return ({ id }) => priceNanoOf(id);
}

// Texts of one length have the order of their numbers.
const DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const keyOf =
  (rank: Rank | undefined) =>
  (pool: Pool): string =>
    rank ? `${String(Number.MAX_SAFE_INTEGER - rank(pool)).padStart(DIGITS, '0')} ${pool.name}` : pool.name;

export function listPoolsRoute(deps: ApiDeps, { figures }: WholeApi): Route {
  return route({
    method: 'GET',
    path: '/pools',
    role: 'viewer',
    summary: 'Lists pools, by name unless `order` says otherwise.',
    query: z.strictObject({
      ...paging,
      source: Name.optional(),
      phase: z.enum(POOL_PHASES).optional(),
      prefix: z.string().max(500).optional().meta({ description: 'Only names that begin with this.' }),
      q: z.string().max(500).optional().meta({ description: 'Only names that contain this, in upper or lower case.' }),
      problem: Flag.meta({
        description: 'Only pools that need somebody: in trouble, frozen, held, or with sessions that match no worker.',
      }),
      order: z.enum(POOL_ORDERS).default('name').meta({
        description: 'Except by name, the largest first; a pool that changes between two pages may be on both or none.',
      }),
    }),
    reply: PoolList,
    async handle({ query, caller }) {
      const { view } = deps.store;
      const { source, phase, prefix = '', problem, order } = query;
      const part = query.q?.toLowerCase() ?? '';
      const rank = await rankBy(deps, order, figures.now);
      const rows = source === undefined ? view.pools.all() : view.pools.by('source', source);
      const isWanted = (pool: Pool): boolean =>
        pool.name.startsWith(prefix) &&
        pool.name.toLowerCase().includes(part) &&
        (phase === undefined || poolPhase(pool) === phase) &&
        (!problem || needsSomebody(deps, pool));
      const keyed = Iterator.from(rows)
        .filter(isWanted)
        .map((pool) => ({ pool, key: keyOf(rank)(pool) }));
      const page = selectPage(keyed, { ...query, order: 'ascending', keyOf: ({ key }) => key });
      return { items: page.items.map(({ pool }) => shownPool(pool, deps, caller.role)), next: page.next };
    },
  });
}

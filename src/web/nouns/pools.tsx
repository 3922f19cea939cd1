import type { Pool } from '../../api/wire/pool.ts';
import { useList } from '../live/list.ts';
import type { WebNoun } from '../noun.ts';
import { Filters, useFilters } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { number } from '../parts/words.ts';

const idOf = (pool: Pool): string => pool.id;
export const poolHref = (name: string): string => `/pools/${encodeURIComponent(name)}`;

/** The one word for a pool: what stops it comes before what it is. */
export function poolState({ phase, frozen, held, trouble }: Pool): { readonly word: string; readonly title?: string } {
  if (frozen) return { word: 'frozen', title: frozen.why };
  if (phase === 'active' && trouble !== undefined) return { word: 'error', title: trouble };
  if (held) return { word: 'held', title: held.why };
  return { word: phase };
}

const starting = ({ workers }: Pool): number => workers.launching + workers.booting;

const COLUMNS: readonly Column<Pool>[] = [
  { title: 'Name', show: ({ name }) => name },
  { title: 'State', width: 5.5, show: (pool) => <State {...poolState(pool)} /> },
  { title: 'Queued', width: 4, isNumber: true, show: ({ sessions }) => number(sessions.queued) },
  { title: 'Busy', width: 4, isNumber: true, show: ({ workers }) => number(workers.busy) },
  { title: 'Idle', width: 4, isNumber: true, rank: 2, show: ({ workers }) => number(workers.idle) },
  { title: 'Starting', width: 4, isNumber: true, rank: 2, show: (pool) => number(starting(pool)) },
  {
    title: 'Max',
    width: 4,
    isNumber: true,
    rank: 3,
    show: ({ auto_scaler }) => number(auto_scaler.max_agents),
  },
  { title: 'Source', width: 6, rank: 3, show: ({ owner }) => owner.source },
  {
    title: 'Trouble',
    rank: 2,
    show: ({ trouble }) => trouble && <span title={trouble}>{trouble}</span>,
  },
];

/** A live list of pools. */
export function PoolRows({ path }: { readonly path: string }) {
  const list = useList<Pool>({ path, table: 'pools', idOf });
  return (
    <Rows
      label="Pools"
      list={list}
      columns={COLUMNS}
      idOf={idOf}
      href={({ name }) => poolHref(name)}
      empty={
        <Empty command={'muster run -- echo hello'}>
          No pool. A pool is a named set of equal workers; a document of a source defines it. The first command makes a
          pool on this machine.
        </Empty>
      }
    />
  );
}

const FILTERS = {
  q: { title: 'Name', kind: 'text' },
  phase: { title: 'Phase', kind: 'choice', choices: ['active', 'manual', 'paused', 'removing'] },
  problem: { title: 'Only with problems', kind: 'flag' },
  order: { title: 'Order', kind: 'choice', choices: ['name', 'queued', 'dollars', 'trouble'] },
  source: { title: 'Source', kind: 'text', isHidden: true },
} as const;

function PoolsPage() {
  const filters = useFilters(FILTERS);
  return (
    <>
      <h1>Pools</h1>
      <Filters filters={filters} />
      <PoolRows path={`/pools${filters.query}`} />
    </>
  );
}

export const noun: WebNoun = {
  path: '/pools',
  title: 'Pools',
  order: 20,
  key: 'p',
  pages: [{ path: '/pools', page: PoolsPage }],
};

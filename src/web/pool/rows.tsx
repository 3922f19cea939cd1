import type { Pool } from '../../api/wire/pool.ts';
import { useList } from '../live/list.ts';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Trend } from '../parts/trend.tsx';
import { counted, dollars, number } from '../parts/words.ts';
import { poolHref, poolState } from './state.ts';

const idOf = (pool: Pool): string => pool.id;
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
  {
    title: '$/h',
    width: 5,
    isNumber: true,
    rank: 2,
    show: ({ dollars_per_hour: rate, machines_without_price: unpriced }) => (
      <span title={unpriced > 0 ? `${counted(unpriced, 'machine')} without a price` : undefined}>
        {rate > 0 ? dollars(rate) : unpriced > 0 ? '?' : ''}
      </span>
    ),
  },
  { title: 'Source', width: 6, rank: 3, show: ({ owner }) => owner.source },
  {
    title: 'Trouble',
    rank: 2,
    show: ({ trouble }) => trouble && <span title={trouble}>{trouble}</span>,
  },
];

const TREND: Column<Pool> = { title: 'Last hour', width: 8, rank: 3, show: ({ name }) => <Trend pool={name} /> };
const WITH_TREND = [...COLUMNS.slice(0, -2), TREND, ...COLUMNS.slice(-1)];

/** A live list of pools; of a few with the trend of each. */
export function PoolRows({ path, most }: { readonly path: string; readonly most?: number }) {
  const list = useList<Pool>({ path, table: 'pools', idOf });
  return (
    <Rows
      label="Pools"
      list={list}
      columns={most === undefined ? COLUMNS : WITH_TREND}
      {...(most !== undefined && { most })}
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

import type { Worker } from '../../api/wire/worker.ts';
import { useList } from '../live/list.ts';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { number } from '../parts/words.ts';
import { poolHref } from '../pool/state.ts';

export const nameOf = ({ name }: Worker): string => name;
export const workerHref = (name: string): string => `/workers/${encodeURIComponent(name)}`;

const COLUMNS: readonly Column<Worker>[] = [
  { title: 'Name', show: ({ name }) => <span class="mono">{name}</span> },
  { title: 'State', width: 7, show: ({ phase, waits }) => <State word={phase} title={waits} /> },
  { title: 'Pool', width: 10, rank: 2, show: ({ pool }) => <a href={poolHref(pool)}>{pool}</a> },
  {
    title: 'Sessions',
    width: 5,
    isNumber: true,
    show: ({ sessions, agent }) => `${number(sessions.length)}${agent ? ` of ${agent.slots}` : ''}`,
  },
  { title: 'Backend', width: 9, rank: 3, show: ({ backend }) => backend ?? 'joined by itself' },
  { title: 'Address', width: 9, rank: 3, show: ({ agent }) => <span class="mono">{agent?.address}</span> },
  { title: 'Asked for', width: 7, rank: 2, isNumber: true, show: ({ asked_at: at }) => <Ago at={at} /> },
  { title: 'Waits for', rank: 3, show: ({ waits }) => waits && <span title={waits}>{waits}</span> },
];

/** A live list of workers; `path` has the filters. */
export function WorkerRows({ path }: { readonly path: string }) {
  const list = useList<Worker>({ path, table: 'workers', idOf: nameOf });
  return (
    <Rows
      label="Workers"
      list={list}
      columns={COLUMNS}
      idOf={nameOf}
      href={({ name }) => workerHref(name)}
      empty={
        <Empty command="muster run -- echo hello">
          No worker. A worker is a machine of a pool with its agent; a pool makes one as soon as a session waits.
        </Empty>
      }
    />
  );
}

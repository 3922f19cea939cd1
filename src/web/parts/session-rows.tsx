import type { Session } from '../../api/wire/session.ts';
import { useList } from '../live/list.ts';
import { type Column, Rows } from './rows.tsx';
import { Empty } from './standing.tsx';
import { State } from './state.tsx';
import { Ago, Lasts } from './time.tsx';

export const sessionHref = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

/** How a session stands: how it ended, or its phase. */
export function SessionState({ session: { phase, end, why } }: { readonly session: Session }) {
  if (!end) return <State word={phase} title={why} />;
  const hasFailed = end.how === 'exited' && end.exit_code !== 0;
  const word = end.how === 'exited' ? `exit ${end.exit_code}` : end.how;
  return (
    <State word={word} tone={end.how === 'exited' ? (hasFailed ? 'problem' : 'off') : 'problem'} title={end.message} />
  );
}

const idOf = ({ id }: Session): string => id;

/** A command as one line, as a shell would read it. */
export const commandText = (command: readonly string[]): string =>
  command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');

const COLUMNS: readonly Column<Session>[] = [
  {
    title: 'Command',
    show: ({ name, command }) => (
      <span class="mono" title={commandText(command)}>
        {name ?? commandText(command)}
      </span>
    ),
  },
  { title: 'State', width: 8, show: (session) => <SessionState session={session} /> },
  { title: 'Pool', width: 9, rank: 2, show: ({ pool, computer }) => pool ?? computer },
  { title: 'Worker', width: 12, rank: 3, show: ({ worker }) => <span class="mono">{worker}</span> },
  {
    title: 'Ran for',
    width: 7,
    rank: 2,
    isNumber: true,
    show: ({ started_at: from, end }) => from && <Lasts from={from} to={end?.at} />,
  },
  { title: 'Accepted', width: 7, isNumber: true, show: ({ accepted_at: at }) => <Ago at={at} /> },
  { title: 'By', width: 9, rank: 3, show: ({ by }) => by },
];

/** A live list of sessions; `path` has the filters. */
export function SessionRows({ path, command }: { readonly path: string; readonly command?: string }) {
  const list = useList<Session>({ path, table: 'sessions', idOf });
  return (
    <Rows
      label="Sessions"
      list={list}
      columns={COLUMNS}
      idOf={idOf}
      href={({ id }) => sessionHref(id)}
      empty={
        <Empty command={command ?? 'muster run -- echo hello'}>
          No session. A session is a command that runs in a slot of a worker.
        </Empty>
      }
    />
  );
}

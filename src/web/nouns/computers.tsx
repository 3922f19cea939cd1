import { useState } from 'preact/hooks';
import type { Computer, ComputerWhy } from '../../api/wire/computer.ts';
import type { HttpProblem } from '../../api/wire/problem.ts';
import type { Session } from '../../api/wire/session.ts';
import { useList } from '../live/list.ts';
import { useMay } from '../live/session.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { Filters, useFilters } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { SessionRows } from '../parts/session-rows.tsx';
import { Empty, Shown, Trouble } from '../parts/standing.tsx';
import { State, type Tone } from '../parts/state.tsx';
import { Terminal } from '../parts/terminal.tsx';
import { Ago, ClockTime } from '../parts/time.tsx';

const WHY_EVERY_MS = 5_000;
const TONES: Partial<Record<Computer['status'], Tone>> = {
  starting: 'wait',
  running: 'ok',
  stopping: 'wait',
  error: 'problem',
};

function ComputerState({ computer: { status, why } }: { readonly computer: Computer }) {
  return <State word={status.replace('_', ' ')} tone={TONES[status] ?? 'off'} title={why} />;
}

const idOf = ({ id }: Computer): string => id;

const COLUMNS: readonly Column<Computer>[] = [
  { title: 'Name', show: ({ name }) => name },
  { title: 'State', width: 8, show: (computer) => <ComputerState computer={computer} /> },
  { title: 'Platform', width: 10, rank: 2, show: ({ platform }) => platform },
  { title: 'By', width: 10, rank: 3, show: ({ by }) => by },
  { title: 'Created', width: 7, rank: 2, isNumber: true, show: ({ created_at: at }) => <Ago at={at} /> },
  {
    title: 'Ends',
    width: 7,
    isNumber: true,
    show: ({ ends_at: at, end }) => (end ? <Ago at={end.at} /> : at ? <Ago at={at} /> : 'never'),
  },
  { title: 'Why', rank: 3, show: ({ why }) => why && <span title={why}>{why}</span> },
];

const FILTERS = { all: { title: 'Also those that ended', kind: 'flag' } } as const;

function ComputersPage() {
  const filters = useFilters(FILTERS);
  const list = useList<Computer>({ path: `/computers${filters.query}`, table: 'computers', idOf });
  return (
    <>
      <h1>Computers</h1>
      <Filters filters={filters} />
      <Rows
        label="Computers"
        list={list}
        columns={COLUMNS}
        idOf={idOf}
        href={({ name }) => `/computers/${encodeURIComponent(name)}`}
        empty={
          <Empty command="muster computer create NAME">
            No computer. A computer is a single machine that somebody asked for by name.
          </Empty>
        }
      />
    </>
  );
}

const shell = { command: ['/bin/sh', '-l'], stdin: true, terminal: { columns: 80, rows: 24 } };

/** A shell of its own on the computer; closing it ends the shell. */
function Shell({ path }: { readonly path: string }) {
  const live = useLive();
  const mayAct = useMay('operator');
  const [session, setSession] = useState<string>();
  const [problem, setProblem] = useState<HttpProblem>();
  if (!mayAct) return null;
  async function open(): Promise<void> {
    const answer = await live.ask<Session>(`${path}/sessions`, { method: 'POST', body: shell });
    setProblem(answer.problem);
    setSession(answer.value?.id);
  }
  return (
    <section aria-label="Shell">
      {session === undefined ? (
        <button type="button" onClick={() => void open()}>
          Open a terminal
        </button>
      ) : (
        <Terminal session={session} />
      )}
      {problem && <Trouble problem={problem} />}
    </section>
  );
}

function Story({ path }: { readonly path: string }) {
  const asked = useAsked<ComputerWhy>(`${path}/why`, { everyMs: WHY_EVERY_MS });
  return (
    <section aria-label="Why">
      <h2>Why it is so</h2>
      <Shown asked={asked}>
        {({ waits, machine, refusals, refused, frozen, timeout, events }) => (
          <>
            <Facts
              of={[
                ['Waits for', waits],
                ['Machine', machine && <span class="mono">{machine.name}</span>],
                ['Its state', machine?.state],
                ['Its trouble', machine?.trouble],
                ['Refused launches', refusals > 0 && String(refusals)],
                ['Last refusal', refused && `${refused.message} ${refused.remedy ?? ''}`],
                ['Frozen', frozen && 'Nothing is done for it while the fleet is frozen.'],
                ['May take', timeout],
              ]}
            />
            <ul class="events">
              {events.map(({ id, at, message }) => (
                <li key={id}>
                  <ClockTime at={at} /> {message}
                </li>
              ))}
            </ul>
          </>
        )}
      </Shown>
    </section>
  );
}

function ComputerPage({ params }: PageProps) {
  const live = useLive();
  const name = params.name ?? '';
  const path = `/computers/${encodeURIComponent(name)}`;
  const asked = useAsked<Computer>(path, { table: 'computers', idOf });
  const done = (): void => void live.refresh(path);
  return (
    <Shown asked={asked}>
      {(computer) => (
        <>
          <div class="title">
            <h1>{computer.name}</h1>
            <ComputerState computer={computer} />
            <span class="space" />
            {!computer.end && (
              <div class="buttons">
                {computer.ends_at && (
                  <Action
                    label="Extend by 2 h"
                    run={() => live.ask(`${path}/extend`, { method: 'POST', body: { by: '2h' } })}
                    done={done}
                  />
                )}
                <Action
                  label="Remove"
                  isDestructive
                  confirm={{
                    question: `Remove computer ${computer.name}?`,
                    detail: 'Its machine is deleted with all that is on it; its sessions end.',
                  }}
                  run={() => live.ask(path, { method: 'DELETE' })}
                  done={done}
                />
              </div>
            )}
          </div>
          {computer.failure && (
            <div class="standing trouble">
              {computer.failure.message} {computer.failure.remedy}
            </div>
          )}
          <Facts
            of={[
              ['Platform', computer.platform],
              ['Created by', computer.by],
              ['Created', <Ago at={computer.created_at} />],
              ['Ends', computer.ends_at ? <Ago at={computer.ends_at} /> : 'never by itself'],
              ['Endpoints', computer.endpoints.map(({ host, port }) => `${host}:${port}`).join(', ')],
              ['Agent', computer.agent ? 'connected' : 'not connected'],
              ['Ended', computer.end && `${computer.end.why} (${computer.end.by})`],
            ]}
          />
          {computer.status === 'running' && <Shell path={path} />}
          <Story path={path} />
          <h2>Sessions</h2>
          <SessionRows
            path={`/sessions?${new URLSearchParams({ computer: name })}`}
            command={`muster computer exec ${name} -- uname -a`}
          />
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/computers',
  title: 'Computers',
  order: 70,
  key: 'c',
  needs: 'computers',
  pages: [
    { path: '/computers', page: ComputersPage },
    { path: '/computers/:name', page: ComputerPage },
  ],
};

import type { Worker } from '../../api/wire/worker.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { Filters, useFilters } from '../parts/filters.tsx';
import { sessionHref } from '../parts/session-rows.tsx';
import { Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { counted } from '../parts/words.ts';
import { poolHref } from '../pool/state.ts';
import { nameOf, WorkerRows } from '../worker/rows.tsx';

const FILTERS = {
  pool: { title: 'Pool', kind: 'text' },
  phase: {
    title: 'Phase',
    kind: 'choice',
    choices: ['launching', 'booting', 'idle', 'busy', 'draining', 'lost', 'parked', 'deleting'],
  },
} as const;

function WorkersPage() {
  const filters = useFilters(FILTERS);
  return (
    <>
      <h1>Workers</h1>
      <Filters filters={filters} />
      <WorkerRows path={`/workers${filters.query}`} />
    </>
  );
}

function WorkerFacts({ worker }: { readonly worker: Worker }) {
  const { agent, drain, removal } = worker;
  return (
    <Facts
      of={[
        ['Pool', <a href={poolHref(worker.pool)}>{worker.pool}</a>],
        ['Machine', <span class="mono">{worker.machine}</span>],
        ['Backend', worker.backend ?? 'its agent joined by itself'],
        ['Asked for', <Ago at={worker.asked_at} />],
        ['Created', worker.created_at && <Ago at={worker.created_at} />],
        ['Joined', worker.joined_at && <Ago at={worker.joined_at} />],
        ['Waits for', worker.waits],
        ['Draining', drain && `${drain.why}`],
        ['Removal', removal && `${removal.why}`],
        ['Slots', agent && `${agent.free_slots} of ${agent.slots} free`],
        ['Agent', agent && `${agent.version} at ${agent.hostname} ${agent.address}`],
        ['Connected', agent && <Ago at={agent.connected_at} />],
        [
          'Labels',
          agent &&
            Object.keys(agent.labels).length > 0 &&
            Object.entries(agent.labels).map(([key, value]) => <code key={key}>{`${key}=${value} `}</code>),
        ],
      ]}
    />
  );
}

function WorkerPage({ params }: PageProps) {
  const live = useLive();
  const name = params.name ?? '';
  const path = `/workers/${encodeURIComponent(name)}`;
  const asked = useAsked<Worker>(path, { table: 'workers', idOf: nameOf });
  const post = (verb: string) => () => live.ask(`${path}/${verb}`, { method: 'POST' });
  const done = (): void => void live.refresh(path);
  return (
    <Shown asked={asked}>
      {(worker) => (
        <>
          <div class="title">
            <h1 class="mono">{worker.name}</h1>
            <State word={worker.phase} />
            <span class="space" />
            {!worker.drain && !worker.removal && (
              <Action
                label="Drain"
                isDestructive
                confirm={{
                  question: `Drain worker ${worker.name}?`,
                  detail: `It takes no new sessions and is removed when its last one has ended: ${counted(worker.sessions.length, 'session')} now.`,
                }}
                run={post('drain')}
                done={done}
              />
            )}
            {worker.drain && worker.backend === undefined && (
              <Action label="Take back the drain" run={post('release')} done={done} />
            )}
          </div>
          <WorkerFacts worker={worker} />
          <h2>Sessions</h2>
          {worker.sessions.length === 0 && <p class="quiet">None.</p>}
          <ul class="events">
            {worker.sessions.map((id) => (
              <li key={id}>
                <a class="mono" href={sessionHref(id)}>
                  {id}
                </a>
              </li>
            ))}
          </ul>
          {worker.unknown_sessions && (
            <p class="quiet">
              Its agent also runs {counted(worker.unknown_sessions.length, 'session')} that this server does not know;
              they are never killed.
            </p>
          )}
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/workers',
  title: 'Workers',
  order: 40,
  key: 'w',
  pages: [
    { path: '/workers', page: WorkersPage },
    { path: '/workers/:name', page: WorkerPage },
  ],
};

import type { Runtime } from '../../api/wire/runtime.ts';
import { useList } from '../live/list.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { number } from '../parts/words.ts';

const idOf = ({ id }: Runtime): string => id;

const COLUMNS: readonly Column<Runtime>[] = [
  { title: 'Name', show: ({ id }) => id },
  { title: 'State', width: 8, show: ({ phase, why }) => <State word={phase} title={why} /> },
  { title: 'Provisioner', width: 10, rank: 2, show: ({ provisioner }) => provisioner },
  { title: 'Slots', width: 4, isNumber: true, show: ({ slots }) => number(slots) },
  {
    title: 'Version',
    width: 10,
    rank: 3,
    show: (one) => <span class="mono">{one.running_version ?? one.version}</span>,
  },
  { title: 'Host', width: 10, rank: 3, show: ({ grant }) => <span class="mono">{grant?.host}</span> },
  { title: 'Since', width: 7, rank: 2, isNumber: true, show: ({ since }) => <Ago at={since} /> },
  { title: 'Why', rank: 3, show: ({ why }) => why && <span title={why}>{why}</span> },
];

function RuntimesPage() {
  const list = useList<Runtime>({ path: '/runtimes', table: 'runtimes', idOf });
  return (
    <>
      <h1>Runtimes</h1>
      <Rows
        label="Runtimes"
        list={list}
        columns={COLUMNS}
        idOf={idOf}
        href={({ id }) => `/runtimes/${encodeURIComponent(id)}`}
        empty={
          <Empty command="muster runtime create NAME --slots 1">
            No runtime. A runtime is the place of one deployment.
          </Empty>
        }
      />
    </>
  );
}

function RuntimePage({ params }: PageProps) {
  const live = useLive();
  const path = `/runtimes/${encodeURIComponent(params.id ?? '')}`;
  const asked = useAsked<Runtime>(path, { table: 'runtimes', idOf });
  const post = (verb: string) => () => live.ask(`${path}/${verb}`, { method: 'POST' });
  const done = (): void => void live.refresh(path);
  return (
    <Shown asked={asked}>
      {(runtime) => (
        <>
          <div class="title">
            <h1>{runtime.id}</h1>
            <State word={runtime.phase} title={runtime.why} />
            <span class="space" />
            <div class="buttons">
              <Action label="Check" run={post('check')} done={done} />
              <Action
                label="Remove"
                isDestructive
                confirm={{ question: `Remove runtime ${runtime.id}?`, detail: 'Its data is deleted too.' }}
                run={() => live.ask(path, { method: 'DELETE' })}
                done={done}
              />
            </div>
          </div>
          {runtime.why && <p>{runtime.why}</p>}
          <Facts
            of={[
              ['Provisioner', runtime.provisioner],
              ['Environment', runtime.environment],
              ['Slots', number(runtime.slots)],
              ['Version', runtime.version ?? 'the newest'],
              ['Runs', runtime.running_version],
              ['In this state', <Ago at={runtime.since} />],
              ['Created', <Ago at={runtime.created_at} />],
              ['Host', runtime.grant?.host],
              ['Audience', runtime.grant?.audience],
              ['CPUs', runtime.grant && number(runtime.grant.cpu)],
              ['Memory', runtime.grant && `${number(runtime.grant.memory_gb)} GB`],
              ...Object.entries(runtime.annotations),
            ]}
          />
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/runtimes',
  title: 'Runtimes',
  order: 60,
  key: 'r',
  needs: 'runtimes',
  pages: [
    { path: '/runtimes', page: RuntimesPage },
    { path: '/runtimes/:id', page: RuntimePage },
  ],
};

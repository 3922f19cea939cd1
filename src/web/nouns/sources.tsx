import type { PoolList } from '../../api/wire/pool.ts';
import type { Source } from '../../api/wire/source.ts';
import { useList } from '../live/list.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { Action } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { Prose } from '../parts/prose.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { counted, number } from '../parts/words.ts';
import { Documents, Refused } from '../source/documents.tsx';
import { isRead, sourceHref, sourceState } from '../source/state.ts';

const idOf = ({ id }: Source): string => id;

const troubleOf = ({ fault, held, faulty_documents: faulty }: Source): string | undefined =>
  fault?.message ?? held?.why ?? (faulty > 0 ? `${counted(faulty, 'document')} refused` : undefined);

const COLUMNS: readonly Column<Source>[] = [
  { title: 'Name', show: ({ id }) => id },
  { title: 'State', width: 7, show: (source) => <State {...sourceState(source)} /> },
  { title: 'Kind', width: 9, rank: 2, show: ({ kind }) => kind },
  { title: 'Pools', width: 5, isNumber: true, show: ({ pools }) => number(pools) },
  { title: 'Documents', width: 6, isNumber: true, rank: 2, show: ({ documents }) => number(documents) },
  { title: 'Read every', width: 6, isNumber: true, rank: 3, show: ({ every }) => every },
  {
    title: 'Read',
    width: 7,
    isNumber: true,
    show: (source) => isRead(source) && (source.last_good_at ? <Ago at={source.last_good_at} /> : 'never'),
  },
  { title: 'Trouble', rank: 2, show: (source) => <span title={troubleOf(source)}>{troubleOf(source)}</span> },
];

function SourcesPage() {
  const list = useList<Source>({ path: '/sources', table: 'sources', idOf });
  return (
    <>
      <h1>Sources</h1>
      <Rows
        label="Sources"
        list={list}
        columns={COLUMNS}
        idOf={idOf}
        href={({ id }) => sourceHref(id)}
        empty={
          <Empty command="muster pool apply pool.yaml">
            No source. A source says which pools should exist: the server file, a directory, a parameter store, the API.
          </Empty>
        }
      />
    </>
  );
}

/** What stops the source, and what waits for a person. */
function Trouble({ source: { fault, held, failures, last_tried_at: triedAt } }: { readonly source: Source }) {
  return (
    <>
      {fault && (
        <div class="standing trouble">
          <p>
            <strong>{fault.message}</strong>
          </p>
          {fault.remedy && (
            <p>
              <Prose text={fault.remedy} />
            </p>
          )}
          <p class="quiet">
            {counted(failures, 'failure')} in a row, since <Ago at={fault.at} />
            {triedAt && (
              <>
                , last tried <Ago at={triedAt} />
              </>
            )}
            . Its pools go on as they were defined.
          </p>
        </div>
      )}
      {held && (
        <div class="standing trouble">
          <p>
            <strong>The removal of {counted(held.keys.length, 'pool')} waits for approval.</strong> {held.why}
          </p>
          <p class="mono">{held.keys.join(', ')}</p>
          <p class="quiet">
            Held <Ago at={held.at} />. Until then these pools go on as they were defined.
          </p>
        </div>
      )}
    </>
  );
}

function SourceActions({ source, path }: { readonly source: Source; readonly path: string }) {
  const live = useLive();
  const { id, held } = source;
  const keys = held?.keys ?? [];
  const pools = useAsked<PoolList>(held && `/pools?${new URLSearchParams({ source: id, limit: '1000' })}`).value;
  const placed = (pools?.items ?? []).reduce((sum, pool) => sum + (pool.held ? pool.sessions.placed : 0), 0);
  const done = (): void => void live.refresh(path);
  return (
    <div class="buttons">
      {isRead(source) && (
        <Action
          label="Read now"
          run={() => live.ask(`${path}/sync?${new URLSearchParams({ wait: 'true' })}`, { method: 'POST' })}
          done={done}
        />
      )}
      {held && (
        <Action
          label="Approve the removal"
          isDestructive
          confirm={{
            question: `Remove ${counted(keys.length, 'pool')} of source ${id}?`,
            detail: `${keys.join(', ')}: their workers are deleted. ${counted(placed, 'session')} on them may finish first, up to the drain timeout of the pool.`,
          }}
          // If others are held by now, nothing is removed.
          run={() =>
            live.ask(`${path}/approve?${new URLSearchParams({ pools: String(keys.length) })}`, { method: 'POST' })
          }
          done={done}
        />
      )}
    </div>
  );
}

function SourcePage({ params }: PageProps) {
  const path = `/sources/${encodeURIComponent(params.id ?? '')}`;
  const asked = useAsked<Source>(path, { table: 'sources', idOf });
  return (
    <Shown asked={asked}>
      {(source) => (
        <>
          <div class="title">
            <h1>{source.id}</h1>
            <State {...sourceState(source)} />
            <span class="space" />
            <SourceActions source={source} path={path} />
          </div>
          <Trouble source={source} />
          <Facts
            of={[
              ['Kind', source.kind],
              ['Place', source.place && <span class="mono">{source.place}</span>],
              ['Read', isRead(source) && (source.last_good_at ? <Ago at={source.last_good_at} /> : 'never')],
              ['Took', source.duration],
              ['Read every', source.every],
              [
                'Pools',
                <a href={`/pools?${new URLSearchParams({ source: source.id })}`}>{counted(source.pools, 'pool')}</a>,
              ],
              ['Missing', source.missing_documents > 0 && `${counted(source.missing_documents, 'document')}`],
              [
                'Without prices',
                source.without_prices?.map(({ backend, pools }) => `${backend} (${counted(pools, 'pool')})`).join(', '),
              ],
              ['Notes', source.notes?.join(' ')],
            ]}
          />
          <Refused path={path} />
          <Documents path={path} />
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/sources',
  title: 'Sources',
  order: 90,
  key: 'd',
  pages: [
    { path: '/sources', page: SourcesPage },
    { path: '/sources/:id', page: SourcePage },
  ],
};

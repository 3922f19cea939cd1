import type { Event } from '../../api/wire/event.ts';
import { useList } from '../live/list.ts';
import { useAsked } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { Facts, Value, wordsOf } from '../parts/facts.tsx';
import { type Filter, Filters, useFilters } from '../parts/filters.tsx';
import { type Column, Rows } from '../parts/rows.tsx';
import { Empty, Shown } from '../parts/standing.tsx';
import { Subject } from '../parts/subject.tsx';
import { Ago } from '../parts/time.tsx';
import { poolHref } from '../pool/state.ts';

/** New events are rows of their own: no stream of rows on the screen has them. */
const LIST_EVERY_MS = 2_000;

const idOf = ({ id }: Event): string => id;

const COLUMNS: readonly Column<Event>[] = [
  { title: 'Message', show: ({ message }) => <span title={message}>{message}</span> },
  { title: 'Kind', width: 11, rank: 2, show: ({ kind }) => <span class="mono">{kind}</span> },
  { title: 'Subject', width: 14, rank: 2, show: ({ subject }) => <Subject of={subject} /> },
  { title: 'By', width: 10, rank: 3, show: ({ who }) => <span title={who}>{who}</span> },
  { title: 'When', width: 7, isNumber: true, show: ({ at }) => <Ago at={at} /> },
];

const FILTERS: Readonly<Record<string, Filter>> = {
  subject: { title: 'Subject', kind: 'text' },
  kind: { title: 'Kind', kind: 'text' },
  pool: { title: 'Pool', kind: 'text' },
  order: { title: 'Order', kind: 'choice', choices: ['newest', 'oldest'], isHidden: true },
};

function EventsPage() {
  const plain = useFilters(FILTERS);
  const list = useList<Event>({ path: `/events${plain.query}`, idOf, everyMs: LIST_EVERY_MS });
  const kinds = [...new Set(list.rows.value.map(({ kind }) => kind))].toSorted();
  const known = { ...FILTERS, kind: { title: 'Kind', kind: 'text', suggested: kinds } as const };
  return (
    <>
      <h1>Events</h1>
      <Filters filters={{ ...plain, known }} />
      <Rows
        label="Events"
        list={list}
        columns={COLUMNS}
        idOf={idOf}
        href={({ id }) => `/events/${encodeURIComponent(id)}`}
        empty={
          <Empty command="muster run -- echo hello">
            No event. An event is something that happened, with who caused it: a pool changed, a worker was lost. They
            are kept for <code>retention.events</code>.
          </Empty>
        }
      />
    </>
  );
}

function EventPage({ params }: PageProps) {
  const asked = useAsked<Event>(`/events/${encodeURIComponent(params.id ?? '')}`);
  return (
    <Shown asked={asked}>
      {({ at, kind, subject, pool, who, from, message, fields = {} }) => (
        <>
          <h1>{message}</h1>
          <Facts
            of={[
              ['When', <Ago at={at} />],
              [
                'Kind',
                <a class="mono" href={`/events?${new URLSearchParams({ kind })}`}>
                  {kind}
                </a>,
              ],
              ['Subject', <Subject of={subject} />],
              ['Pool', pool !== undefined && <a href={poolHref(pool)}>{pool}</a>],
              ['By', who],
              ['From', from],
              ...Object.entries(fields).map(
                ([key, value]) => [wordsOf(key), <Value key={key} value={value} />] as const,
              ),
            ]}
          />
          <p class="small">
            <a href={`/events?${new URLSearchParams({ subject })}`}>All events about {subject}</a>
          </p>
        </>
      )}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/events',
  title: 'Events',
  order: 110,
  key: 'e',
  pages: [
    { path: '/events', page: EventsPage },
    { path: '/events/:id', page: EventPage },
  ],
};

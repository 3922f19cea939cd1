import { useMay } from '../live/session.ts';
import type { WebNoun } from '../noun.ts';
import { Filters, useFilters } from '../parts/filters.tsx';
import { SessionRows } from '../parts/session-rows.tsx';
import { NewSessionPage } from '../session/new-page.tsx';
import { SessionPage } from '../session/page.tsx';

const FILTERS = {
  pool: { title: 'Pool', kind: 'text' },
  phase: {
    title: 'State',
    kind: 'choice',
    choices: [
      ...['queued', 'starting', 'running', 'unknown', 'ended'],
      ...['exited', 'signalled', 'killed', 'timeout', 'lost', 'refused', 'cancelled'],
    ],
  },
  name: { title: 'Name', kind: 'text' },
  computer: { title: 'Computer', kind: 'text', isHidden: true },
} as const;

function SessionsPage() {
  const mayAct = useMay('operator');
  const filters = useFilters(FILTERS);
  const { pool } = filters.values;
  const query = pool === undefined ? '' : `?${new URLSearchParams({ pool })}`;
  return (
    <>
      <div class="title">
        <h1>Sessions</h1>
        <span class="space" />
        {mayAct && (
          <a class="button primary" href={`/sessions/new${query}`}>
            New session
          </a>
        )}
      </div>
      <Filters filters={filters} />
      <SessionRows path={`/sessions${filters.query}`} />
    </>
  );
}

export const noun: WebNoun = {
  path: '/sessions',
  title: 'Sessions',
  order: 30,
  key: 's',
  pages: [
    { path: '/sessions', page: SessionsPage },
    // Before the page of one session: no id is called so.
    { path: '/sessions/new', page: NewSessionPage },
    { path: '/sessions/:id', page: SessionPage },
  ],
};

import type { Decision, DecisionList } from '../../api/wire/decision.ts';
import { useAsked } from '../live/use.ts';
import type { PageProps, WebNoun } from '../noun.ts';
import { DecisionView } from '../parts/decision.tsx';
import { Shown } from '../parts/standing.tsx';
import { ClockTime } from '../parts/time.tsx';
import { poolHref } from '../pool/state.ts';

const OTHERS_EVERY_MS = 10_000;
const MOST_OTHERS = '30';

const decisionHref = (id: string): string => `/decisions/${encodeURIComponent(id)}`;

/** What else was decided about the same subject, newest first. */
function Others({ decision: { id, subject } }: { readonly decision: Decision }) {
  const query = new URLSearchParams({ ...(subject !== undefined && { subject }), limit: MOST_OTHERS });
  const { value } = useAsked<DecisionList>(`/decisions?${query}`, { everyMs: OTHERS_EVERY_MS });
  if (!value) return null;
  return (
    <section aria-label="Others">
      <h2>Last decisions about it</h2>
      <ul class="events">
        {value.items.map((one) => (
          <li key={one.id} data-row={one.id}>
            <ClockTime at={one.at} />{' '}
            {one.id === id ? <strong>{one.did}</strong> : <a href={decisionHref(one.id)}>{one.did}</a>}{' '}
            <span class="quiet">{one.why}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function DecisionPage({ params }: PageProps) {
  const asked = useAsked<Decision>(`/decisions/${encodeURIComponent(params.id ?? '')}`);
  return (
    <Shown asked={asked}>
      {(decision) => {
        const { pool, subject = '' } = decision;
        return (
          <>
            <h1>Decision about {pool === undefined ? subject : `pool ${pool}`}</h1>
            {pool !== undefined && (
              <p>
                <a href={poolHref(pool)}>The pool with its chart</a>
              </p>
            )}
            <DecisionView decision={decision} />
            <Others decision={decision} />
          </>
        );
      }}
    </Shown>
  );
}

export const noun: WebNoun = {
  path: '/decisions',
  title: 'Decisions',
  order: 120,
  isHidden: true,
  pages: [{ path: '/decisions/:id', page: DecisionPage }],
};

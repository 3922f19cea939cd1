import type { Overview } from '../../api/wire/overview.ts';
import type { Series } from '../../api/wire/series.ts';
import { OVERVIEW_PATH } from '../frame/frame.tsx';
import { useAsked, useLive } from '../live/use.ts';
import type { WebNoun } from '../noun.ts';
import { Chart } from '../parts/chart.tsx';
import { Prose } from '../parts/prose.tsx';
import { Shown } from '../parts/standing.tsx';
import { Subject, subjectHref } from '../parts/subject.tsx';
import { Ago, ClockTime } from '../parts/time.tsx';
import { counted, dollars, number, span } from '../parts/words.ts';
import { PoolRows } from '../pool/rows.tsx';
import { poolHref } from '../pool/state.ts';

function Problems({ overview: { problems, more_problems, events } }: { readonly overview: Overview }) {
  if (problems.length === 0) {
    const [last] = events;
    return <p class="quiet">Nothing needs you. {last && <>Last change {<Ago at={last.at} />}.</>}</p>;
  }
  return (
    <section aria-label="Problems">
      <h2>Problems ({number(problems.length + more_problems)})</h2>
      <ul class="problems">
        {problems.map((problem) => (
          <li key={problem.id}>
            <span class="dot problem" aria-hidden="true" />
            <a href={problem.link}>{problem.subject}</a>
            <span class="what">
              {problem.what}{' '}
              <span class="quiet">
                <Prose text={problem.remedy} />
              </span>
            </span>
            <span class="quiet">
              {problem.since && <Ago at={problem.since} />}
              {problem.waiting_sessions ? ` · ${counted(problem.waiting_sessions, 'session')} wait` : ''}
            </span>
          </li>
        ))}
      </ul>
      {more_problems > 0 && <p class="quiet">{counted(more_problems, 'more problem')}</p>}
    </section>
  );
}

const PARTS = [
  ['busy', 'ok'],
  ['idle', 'idle'],
  ['starting', 'wait'],
  ['draining', 'wait'],
  ['parked', 'off'],
  ['deleting', 'off'],
  ['lost', 'problem'],
] as const;

/** Workers by phase as one bar, with a word and a figure for each. */
function WorkerBar({ workers }: { readonly workers: Overview['workers'] }) {
  const parts = PARTS.filter(([phase]) => workers[phase] > 0);
  return (
    <div class="worker-bar">
      <a href="/workers">
        <strong>{counted(workers.total, 'worker')}</strong>
      </a>
      {workers.total > 0 && (
        <span class="bar-parts" aria-hidden="true">
          {parts.map(([phase, tone]) => (
            <span key={phase} class={`fill ${tone}`} style={`flex-grow: ${workers[phase]}`} />
          ))}
        </span>
      )}
      {parts.map(([phase, tone]) => (
        <a key={phase} class="state" href={phase === 'starting' ? '/workers' : `/workers?phase=${phase}`}>
          <span class={`dot ${tone}`} aria-hidden="true" />
          {number(workers[phase])} {phase}
        </a>
      ))}
    </div>
  );
}

const sourceTroubles = ({ in_error: failed, with_refused_documents: refused }: Overview['sources']): string[] => [
  ...(failed > 0 ? [`${number(failed)} in error`] : []),
  ...(refused > 0 ? [`${number(refused)} with refused documents`] : []),
];

function Now({ overview }: { readonly overview: Overview }) {
  const { workers, sessions, longest_wait_ms: longestMs, sources } = overview;
  const unpriced = overview.machines_without_price;
  const troubles = sourceTroubles(sources);
  return (
    <section aria-label="Now">
      <h2>Now</h2>
      <WorkerBar workers={workers} />
      <p class="sums">
        <a href="/sessions?phase=queued">
          <strong>{number(sessions.queued)}</strong> queued
          {longestMs ? `, longest ${span(longestMs)}` : ''}
        </a>
        <a href="/sessions?phase=running">
          <strong>{number(sessions.running)}</strong> running
        </a>
        {sessions.unknown > 0 && (
          <a href="/sessions?phase=unknown">
            <strong>{number(sessions.unknown)}</strong> of unknown state
          </a>
        )}
        <span>
          <strong>{dollars(overview.dollars_per_hour)}</strong>/h
          {unpriced > 0 && <span class="quiet"> ({counted(unpriced, 'machine')} without a price)</span>}
        </span>
        <a href="/sources">
          {troubles.length > 0 && <span class="dot problem" aria-hidden="true" />}{' '}
          {[counted(sources.total, 'source'), ...(troubles.length > 0 ? troubles : ['none in error'])].join(', ')}
        </a>
      </p>
    </section>
  );
}

function Recent({ events }: Pick<Overview, 'events'>) {
  if (events.length === 0) return null;
  return (
    <section aria-label="Recent">
      <h2>
        <a href="/events">Recent</a>
      </h2>
      <ul class="events">
        {events.map(({ id, at, message, pool, subject }) => (
          <li key={id}>
            <ClockTime at={at} />{' '}
            {pool === undefined ? (
              subjectHref(subject) && <Subject of={subject} />
            ) : (
              <a href={poolHref(pool)}>{pool}</a>
            )}{' '}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );
}

const CHART_PX = 96;
const MOST_POOLS = 12;
const SERIES_EVERY_MS = 30_000;

function LastHour() {
  const asked = useAsked<Series>('/series', { everyMs: SERIES_EVERY_MS });
  if (!asked.value || asked.value.points.length < 2) return null;
  return (
    <section aria-label="Last hour">
      <h2>Last hour</h2>
      <Chart label="Demand and capacity of the fleet" series={asked.value} heightPx={CHART_PX} />
    </section>
  );
}

function OverviewPage() {
  const asked = useLive().known<Overview>(OVERVIEW_PATH).value;
  return (
    <>
      <h1 class="only-read">Overview</h1>
      <Shown asked={asked}>
        {(overview) => (
          <>
            <Problems overview={overview} />
            <Now overview={overview} />
            <LastHour />
          </>
        )}
      </Shown>
      <section aria-label="Pools">
        <h2>
          <a href="/pools">Pools</a>
        </h2>
        <PoolRows path="/pools?order=trouble" most={MOST_POOLS} />
        <p class="small">
          <a href="/pools">All pools</a>
        </p>
      </section>
      {asked.value && <Recent events={asked.value.events} />}
    </>
  );
}

export const noun: WebNoun = {
  path: '/',
  title: 'Overview',
  order: 10,
  key: 'o',
  pages: [{ path: '/', page: OverviewPage }],
};

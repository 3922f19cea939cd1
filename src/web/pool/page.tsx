import { useState } from 'preact/hooks';
import type { DecisionList } from '../../api/wire/decision.ts';
import type { Pool, Why } from '../../api/wire/pool.ts';
import type { Series } from '../../api/wire/series.ts';
import { useAsked } from '../live/use.ts';
import type { PageProps } from '../noun.ts';
import { Chart } from '../parts/chart.tsx';
import { DecisionView } from '../parts/decision.tsx';
import { SessionRows } from '../parts/session-rows.tsx';
import { Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { counted, dollars, number } from '../parts/words.ts';
import { PoolActions } from './actions.tsx';
import { Definition } from './definition.tsx';
import { poolState } from './state.ts';
import { PoolWorkers } from './workers.tsx';

const SERIES_EVERY_MS = 15_000;
const WHY_EVERY_MS = 5_000;
const CHART_PX = 240;
const MOST_MARKS = 200;

export const poolApiPath = (name: string): string => `/pools/${encodeURIComponent(name)}`;

/** What stops the pool, with what to do about it. */
function Notices({ pool }: { readonly pool: Pool }) {
  const { frozen, held, trouble, removal, warnings = [] } = pool;
  const notices = [
    trouble !== undefined && <>{trouble}</>,
    frozen && (
      <>
        Frozen by {frozen.by}: {frozen.why} End it with <code>{frozen.thaw}</code>.
      </>
    ),
    held && (
      <>
        Its removal waits for approval: {held.why} Approve it with <code>{held.approve}</code>.
      </>
    ),
    removal && (
      <>
        Is being removed: {removal.why} At the latest <Ago at={removal.deadline_at} />.
      </>
    ),
  ].filter(Boolean);
  return (
    <>
      {notices.map((notice, at) => (
        <div key={at} class="standing trouble">
          {notice}
        </div>
      ))}
      {warnings.map((warning) => (
        <p key={warning} class="quiet">
          Warning: {warning}
        </p>
      ))}
    </>
  );
}

function Counts({ pool: { workers, slots, sessions, auto_scaler: scaler, ...pool } }: { readonly pool: Pool }) {
  return (
    <p class="sums">
      <span>
        <strong>{number(sessions.queued)}</strong> queued
      </span>
      <span>
        <strong>{number(workers.busy)}</strong> busy
      </span>
      <span>
        <strong>{number(workers.idle)}</strong> idle
      </span>
      <span>
        <strong>{number(workers.launching + workers.booting)}</strong> starting
      </span>
      <span>
        {counted(workers.total, 'worker')} of {number(scaler.min_agents)} to {number(scaler.max_agents)}
      </span>
      <span>
        {number(slots.free)} of {counted(slots.total, 'slot')} free
      </span>
      <span>
        {dollars(pool.dollars_per_hour)}/h
        {pool.machines_without_price > 0 && (
          <span class="quiet"> ({counted(pool.machines_without_price, 'machine')} without a price)</span>
        )}
      </span>
    </p>
  );
}

interface HistoryProps {
  readonly pool: Pool;
}

/** The last hour beside the decision that one has chosen in it. */
function History({ pool }: HistoryProps) {
  const path = poolApiPath(pool.name);
  const series = useAsked<Series>(`${path}/series`, { everyMs: SERIES_EVERY_MS });
  const why = useAsked<Why>(`${path}/why`, { everyMs: WHY_EVERY_MS });
  const query = new URLSearchParams({ subject: `pool/${pool.id}`, limit: String(MOST_MARKS) });
  const decisions = useAsked<DecisionList>(`/decisions?${query}`, { everyMs: SERIES_EVERY_MS });
  const [chosen, choose] = useState<string>();
  const marks = (decisions.value?.items ?? []).map(({ id, at, did }) => ({ id, atMs: Date.parse(at), text: did }));
  const { min_agents: min, max_agents: max } = pool.auto_scaler;
  return (
    <div class="beside">
      <section aria-label="The last hour">
        <Shown asked={series} rows={7}>
          {(value) => (
            <Chart
              label={`Demand and capacity of ${pool.name}`}
              series={value}
              limits={pool.backends.length > 0 ? { min, max } : undefined}
              heightPx={CHART_PX}
              marks={marks}
              chosen={chosen}
              choose={choose}
            />
          )}
        </Shown>
        <p class="quiet small">
          Each mark below the chart is a decision: choose one to read why. Where several share a mark, choose it again.
        </p>
      </section>
      <section aria-label="Why">
        <Shown asked={why} rows={7}>
          {({ decisions: last, unmatched, starting }) => {
            const decision = decisions.value?.items.find(({ id }) => id === chosen) ?? last[0];
            return (
              <>
                {unmatched && (
                  <p>
                    {counted(unmatched.sessions, 'queued session')} ask for labels that no worker of this pool offers:{' '}
                    <code>{unmatched.labels.join(', ')}</code>
                  </p>
                )}
                {decision ? <DecisionView decision={decision} /> : <p class="quiet">No decision yet.</p>}
                {starting.length > 0 && (
                  <ul class="events">
                    {starting.map(({ worker, since, waits }) => (
                      <li key={worker}>
                        <a class="mono" href={`/workers/${encodeURIComponent(worker)}`}>
                          {worker}
                        </a>{' '}
                        {waits} <span class="quiet">since {<Ago at={since} />}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </>
            );
          }}
        </Shown>
      </section>
    </div>
  );
}

/** One pool: its state, why it is as it is, its workers and sessions, its definition. */
export function PoolPage({ params }: PageProps) {
  const path = poolApiPath(params.name ?? '');
  const asked = useAsked<Pool>(path, { table: 'pools', idOf: (pool: Pool) => pool.id });
  return (
    <Shown asked={asked}>
      {(pool) => (
        <>
          <div class="title">
            <h1>{pool.name}</h1>
            <State {...poolState(pool)} />
            <span class="space" />
            <PoolActions pool={pool} path={path} />
          </div>
          {pool.description && <p>{pool.description}</p>}
          <Notices pool={pool} />
          <Counts pool={pool} />
          <History pool={pool} />
          <PoolWorkers pool={pool} />
          <section aria-label="Sessions">
            <h2>
              <a href={`/sessions?${new URLSearchParams({ pool: pool.name })}`}>Sessions</a>
            </h2>
            <SessionRows
              path={`/sessions?${new URLSearchParams({ pool: pool.name })}`}
              command={`muster run --pool ${pool.name} -- echo hello`}
            />
          </section>
          <Definition pool={pool} />
        </>
      )}
    </Shown>
  );
}

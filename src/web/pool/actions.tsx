import { useState } from 'preact/hooks';
import type { Plan, Pool } from '../../api/wire/pool.ts';
import type { HttpProblem } from '../../api/wire/problem.ts';
import type { WorkerList } from '../../api/wire/worker.ts';
import { Dialog } from '../frame/dialog.tsx';
import type { Live } from '../live/live.ts';
import type { Answer } from '../live/request.ts';
import { useMay } from '../live/session.ts';
import { useAsked, useLive } from '../live/use.ts';
import { Action } from '../parts/action.tsx';
import { Alternatives } from '../parts/decision.tsx';
import { Facts, wordsOf } from '../parts/facts.tsx';
import { Shown } from '../parts/standing.tsx';
import { counted } from '../parts/words.ts';

/** The form for a new session; `pool` is filled in. */
export const runHref = (pool: string): string => `/sessions/new?${new URLSearchParams({ pool })}`;

/** The first refusal, if any; a worker that has gone meanwhile needs no drain. */
async function drainEach(live: Live, { items }: WorkerList): Promise<HttpProblem | undefined> {
  for (const { name } of items.filter(({ drain, removal }) => !drain && !removal)) {
    const { problem } = await live.ask(`/workers/${encodeURIComponent(name)}/drain`, { method: 'POST' });
    if (problem && problem.kind !== 'missing') return problem;
  }
  return undefined;
}

/** Drains every worker of a pool that is not leaving yet. */
async function drainAll(live: Live, pool: string): Promise<Answer<unknown>> {
  for (let after: string | undefined; ; ) {
    const query = new URLSearchParams({ pool, limit: '1000', ...(after !== undefined && { after }) });
    const page = await live.ask<WorkerList>(`/workers?${query}`);
    if (page.problem) return page;
    const problem = await drainEach(live, page.value);
    if (problem) return { problem };
    after = page.value.next;
    if (after === undefined) return { value: undefined };
  }
}

function PlanDialog({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const asked = useAsked<Plan>(`${path}/plan`);
  return (
    <Dialog label="Plan" onClose={onClose}>
      <h2>What the next pass would do</h2>
      <Shown asked={asked}>
        {({ did, why, unless, actions, alternatives, figures, again_after: again }) => (
          <>
            <p>
              <strong>{did ?? (actions.length === 0 ? 'Nothing' : counted(actions.length, 'action'))}</strong>
            </p>
            <p>{why}</p>
            <p>
              <span class="quiet">Would change if: </span>
              {unless}
            </p>
            <ul>
              {actions.map((action) => (
                <li key={`${action.do}${action.worker}${action.offer}`}>
                  {action.do} {action.count} {action.worker} <span class="quiet">{action.why}</span>
                </li>
              ))}
            </ul>
            <Alternatives of={alternatives} />
            <h3>Figures</h3>
            <Facts of={Object.entries(figures).map(([key, value]) => [wordsOf(key), String(value)])} />
            {again && <p class="quiet">Planned again after {again}.</p>}
          </>
        )}
      </Shown>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** What one can do with a pool. Who may only look sees the plan alone. */
export function PoolActions({ pool, path }: { readonly pool: Pool; readonly path: string }) {
  const live = useLive();
  const mayAct = useMay('operator');
  const [isPlanOpen, openPlan] = useState(false);
  const { name, phase, workers, removal } = pool;
  const post = (verb: string) => () => live.ask(`${path}/${verb}`, { method: 'POST' });
  const done = (): void => void live.refresh(path);
  const draining = workers.total - workers.draining - workers.deleting;
  return (
    <div class="buttons">
      {mayAct && !removal && (
        <a class="button primary" href={runHref(name)}>
          Run
        </a>
      )}
      {phase === 'paused' ? (
        <Action label="Resume" run={post('resume')} done={done} />
      ) : (
        !removal && (
          <Action
            label="Pause"
            confirm={{
              question: `Pause pool ${name}?`,
              detail: `It launches, removes and places nothing until it is resumed. ${counted(pool.sessions.placed, 'session')} on its workers go on; ${counted(pool.sessions.queued, 'queued session')} wait.`,
            }}
            run={post('pause')}
            done={done}
          />
        )
      )}
      {draining > 0 && (
        <Action
          label="Drain"
          isDestructive
          confirm={{
            question: `Drain ${counted(draining, 'worker')} of ${name}?`,
            detail: `${counted(pool.sessions.placed, 'session')} finish first. The pool replaces them as its definition says; pause it to keep it empty.`,
          }}
          run={() => drainAll(live, name)}
          done={done}
        />
      )}
      <button type="button" onClick={() => openPlan(true)}>
        Plan
      </button>
      {isPlanOpen && <PlanDialog path={path} onClose={() => openPlan(false)} />}
    </div>
  );
}

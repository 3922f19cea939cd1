import type { EventList } from '../../api/wire/event.ts';
import type { Session } from '../../api/wire/session.ts';
import { useAsked } from '../live/use.ts';
import type { Tone } from '../parts/state.tsx';
import { Ago, nowMs } from '../parts/time.tsx';
import { span } from '../parts/words.ts';
import { workerHref } from '../worker/rows.tsx';
import { type Attempt, type AttemptPhase, attemptsOf } from './attempts.ts';

const EVENTS_EVERY_MS = 5_000;
const TONES: Readonly<Record<AttemptPhase['phase'], Tone>> = { queued: 'off', starting: 'wait', running: 'ok' };

/** How an attempt ended, if that is not said by its next one. */
function endWord(session: Session): string | undefined {
  if (!session.end) return undefined;
  const { how, exit_code: code, signal } = session.end;
  return how === 'exited' ? `exited with ${code}` : [how, signal].filter(Boolean).join(' by ');
}

interface RowProps {
  readonly attempt: Attempt;
  readonly isOnly: boolean;
  readonly fromMs: number;
  readonly toMs: number;
  readonly ending: string | undefined;
}

function AttemptRow({ attempt: { number, worker, phases, why }, isOnly, fromMs, toMs, ending }: RowProps) {
  const endOf = (phase: AttemptPhase): number => phase.toMs ?? Math.max(phase.fromMs, toMs);
  const first = phases[0]?.fromMs ?? fromMs;
  const last = phases.at(-1);
  const lastMs = last ? endOf(last) : first;
  return (
    <li>
      <span class="bar-parts" aria-hidden="true">
        <span style={`flex-grow: ${first - fromMs}`} />
        {phases.map((phase) => (
          <span
            key={phase.phase}
            class={`fill ${TONES[phase.phase]}`}
            style={`flex-grow: ${endOf(phase) - phase.fromMs}`}
          />
        ))}
        <span style={`flex-grow: ${Math.max(0, toMs - lastMs)}`} />
      </span>
      <span class="sums">
        {!isOnly && <strong>Attempt {number}</strong>}
        {phases.map((phase) => (
          <span key={phase.phase} class="state">
            <span class={`dot ${TONES[phase.phase]}`} aria-hidden="true" />
            {phase.phase} {span(Math.max(0, endOf(phase) - phase.fromMs))}
          </span>
        ))}
        {ending !== undefined && <span>{ending}</span>}
        {worker !== undefined && !isOnly && (
          <a class="mono" href={workerHref(worker)}>
            {worker}
          </a>
        )}
        {why !== undefined && <span class="quiet">{why}</span>}
      </span>
    </li>
  );
}

/** From the queue to the end, each phase as long as it lasted; attempts below each other on one axis. */
export function Timeline({ session }: { readonly session: Session }) {
  const hasEarlier = session.attempt > 1 || (session.attempt === 1 && session.worker === undefined);
  const query = new URLSearchParams({
    ...{ subject: `session/${session.id}`, kind: 'session.requeued', order: 'oldest', limit: '200' },
  });
  const { value } = useAsked<EventList>(hasEarlier ? `/events?${query}` : undefined, {
    ...(!session.end && { everyMs: EVENTS_EVERY_MS }),
  });
  const attempts = attemptsOf(session, value?.items ?? []);
  const fromMs = Date.parse(session.accepted_at);
  const toMs = session.end ? Date.parse(session.end.at) : Math.max(nowMs.value, fromMs);
  return (
    <section aria-label="Timeline" class="timeline">
      <ul>
        {attempts.map((attempt, at) => (
          <AttemptRow
            key={attempt.number}
            attempt={attempt}
            isOnly={attempts.length === 1}
            fromMs={fromMs}
            toMs={toMs}
            ending={at === attempts.length - 1 ? endWord(session) : undefined}
          />
        ))}
      </ul>
      <p class="quiet small">
        Accepted <Ago at={session.accepted_at} />
        {session.end && (
          <>
            , ended <Ago at={session.end.at} />
          </>
        )}
      </p>
    </section>
  );
}

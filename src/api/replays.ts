import { z } from 'zod';
import { DAY_MS } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import { openOneAtATime } from '#core/one-at-a-time.ts';
import { poolOfSubject, poolSubject, type Subject } from '#core/reason.ts';
import type { Store } from '#core/store.ts';
import { type ReplayedPage, replayPage } from '../foresight/replay.ts';
import type { ApiDeps } from './deps.ts';
import type { Noun } from './noun.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { shownComputed, shownDecision } from './shown/decision.ts';
import * as wire from './wire/replay.ts';
import { Name, Since, sinceMsOf, toTime, toTimeIf } from './wire/shared.ts';

const USUAL_SINCE_MS = 7 * DAY_MS;

const query = z.strictObject({
  pool: Name.optional().meta({ description: 'Name or id of a pool; absent: all pools.' }),
  since: Since.optional().meta({
    description: 'From then on: a time, or a duration back from now; by default seven days.',
    examples: ['24h', '2026-01-01T12:00:00Z'],
  }),
  after: z.string().min(1).max(1_000).optional().meta({ description: '`next` of the previous answer.' }),
});

function replayRoutes(deps: ApiDeps): Route[] {
  const { store, clock } = deps;
  // Each piece of the work holds others up for a slice: many side by side would do so for a slice each.
  const turns = openOneAtATime();
  return [
    route({
      method: 'GET',
      path: '/replays',
      role: 'viewer',
      summary: 'Computes recorded decisions about pools again, the oldest first, and compares. Changes nothing.',
      query,
      reply: wire.Replay,
      async handle({ query, signal }) {
        const subject = query.pool === undefined ? undefined : await recordedSubject(store, query.pool);
        const sinceMs = query.since ? sinceMsOf(query.since, clock) : clock.now() - USUAL_SINCE_MS;
        const after = query.after ?? idsFrom(Math.max(0, sinceMs));
        const page = await turns.take('replays', () => {
          signal.throwIfAborted();
          return replayPage(deps, { subject, after });
        });
        return shownReplay(page, store);
      },
    }),
  ];
}

/** A pool that is gone is asked for by its id. */
async function recordedSubject(store: Store, pool: string): Promise<Subject> {
  const [named] = store.view.pools.by('name', pool);
  if (named) return poolSubject(named.id);
  const subject = poolSubject(pool);
  const [known] = await store.history.decisions({ subject }, { limit: 1, order: 'newest first' });
  return known ? subject : poolSubject(findPool(store, pool).id);
}

function shownReplay(page: ReplayedPage, { view }: Store): wire.Replay {
  const { decisions, counts, different, unreadable, next } = page;
  const poolOf = (subject: string): string => {
    const id = poolOfSubject(subject) ?? subject;
    return view.pools.get(id)?.name ?? id;
  };
  return {
    decisions,
    same: counts.same,
    different: counts.different,
    without_inputs: counts['without-inputs'],
    unreadable: counts.unreadable,
    from: toTimeIf(page.fromMs),
    until: toTimeIf(page.untilMs),
    first_different: different && {
      pool: poolOf(different.recorded.subject),
      parts: [...different.parts],
      recorded: shownDecision(different.recorded),
      computed: shownComputed(different.computed),
    },
    first_unreadable: unreadable && {
      pool: poolOf(unreadable.recorded.subject),
      at: toTime(unreadable.recorded.at),
      why: unreadable.fault.message,
      remedy: unreadable.fault.remedy,
    },
    next,
  };
}

export const noun: Noun = { tag: 'decisions', order: 66, routes: replayRoutes };

import { FAULTS } from '#core/fault.ts';
import { FLEET, type Freeze, thawCommand } from '#core/worker.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';

/** The page of a pool in the dashboard. */
export const poolLink = (name: string): string => `/pools/${encodeURIComponent(name)}`;

/** What keeps pools from their machines. */
function* troubles({ store, workers }: ApiDeps): Iterable<ReportedProblem> {
  for (const [id, since] of workers.troubled()) {
    const pool = store.view.pools.get(id);
    if (!pool) continue;
    yield {
      ...{ id: `trouble/${id}`, urgency: 'pool', subject: `pool/${pool.name}`, link: poolLink(pool.name), since },
      waitingSessions: store.view.sessions.count('queue', id),
      said() {
        const trouble = workers.trouble(id);
        if (!trouble) return undefined;
        const { cause, message, kind, remedy } = trouble;
        return { what: cause ?? message, remedy: remedy || FAULTS[kind].remedy };
      },
    };
  }
}

/** Sessions that no worker of their pool can take. They are no demand, so that no machine comes for them. */
function* unmatched({ store }: ApiDeps, waiting: Iterable<string>): Iterable<ReportedProblem> {
  for (const id of waiting) {
    const sessions = store.view.sessions.count('unmatched', id);
    const pool = sessions > 0 ? store.view.pools.get(id) : undefined;
    if (!pool) continue;
    const [first] = Iterator.from(store.view.sessions.by('unmatched', id)).take(1);
    yield {
      ...{ id: `unmatched/${id}`, urgency: 'pool', subject: `pool/${pool.name}`, link: poolLink(pool.name) },
      ...{ since: first?.acceptedAt, waitingSessions: sessions },
      said: () => ({
        what: `No worker of the pool has the labels that queued sessions ask for: ${first?.unmatched ?? ''}.`,
        remedy: 'Add the labels to the pool, or start the sessions again with others.',
      }),
    };
  }
}

/** A freeze of the fleet, or of a pool; the guard against mass loss sets them too. */
export function* freezeProblems({ store }: ApiDeps): Iterable<ReportedProblem> {
  for (const freeze of store.view.freezes.all()) {
    const pool = freeze.id === FLEET ? undefined : (store.view.pools.get(freeze.id)?.name ?? freeze.id);
    const where =
      pool === undefined
        ? { urgency: 'fleet' as const, subject: FLEET, link: '/workers' }
        : { urgency: 'pool' as const, subject: `pool/${pool}`, link: poolLink(pool) };
    const waitingSessions = pool === undefined ? undefined : store.view.sessions.count('queue', freeze.id);
    yield {
      id: `freeze/${freeze.id}`,
      ...where,
      since: freeze.at,
      waitingSessions,
      said: () => freezeText(freeze, pool),
    };
  }
}

const freezeText = ({ why, by, automatic }: Freeze, pool: string | undefined) => ({
  what: `${pool === undefined ? 'The fleet is' : 'It is'} frozen by ${automatic ? 'the guard against mass loss' : by}: ${why}`,
  remedy: `${automatic ? 'It ends when the agents are back. To end it now' : 'To end it'}, run \`${thawCommand(pool)}\`.`,
});

export function* poolProblems(deps: ApiDeps, waiting: Iterable<string>): Iterable<ReportedProblem> {
  yield* troubles(deps);
  yield* unmatched(deps, waiting);
}

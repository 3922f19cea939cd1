import { type Again, startLoop } from '#core/loop.ts';
import type { Agent } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import type { Session } from '#core/session.ts';
import { put, type Store } from '#core/store.ts';
import { askedLabels, describeAsked, offeredBy } from './asked-labels.ts';
import type { SessionsDeps } from './deps.ts';
import { laneKey, offersAll } from './queue.ts';

type Labels = Readonly<Record<string, string>>;

// Agents of one pool that differ this much may have any label: nothing is concluded from them.
const MOST_SETS = 64;
const CHANGES_PER_PASS = 500;

/** Labels that agents of one pool have had since this process started. */
interface Shown {
  readonly sets: Map<string, Labels>;
  /** Offers whose machines have connected an agent. */
  readonly offers: Set<string>;
}

export interface OfferedLabels {
  /**
   * The asked labels that no worker of this pool can have, as text; undefined if some worker may have them.
   * Agents add labels of their own, so the answer is known only after an agent of each offer has connected.
   */
  lacking(pool: Pool, asked: Labels): string | undefined;
  stop(): Promise<void>;
}

/** Knows which labels workers can have, and keeps `Session.unmatched` of queued sessions in step with it. */
export function openOfferedLabels(deps: SessionsDeps, changed: (pool: string) => void): OfferedLabels {
  const { store } = deps;
  const shownIn = new Map<string, Shown>();
  const loop = startLoop({ ...deps, name: 'matching labels', reconcile });

  function note(agent: Agent): void {
    if (agent.use !== 'worker') return;
    const shown = shownIn.get(agent.owner) ?? { sets: new Map(), offers: new Set() };
    shownIn.set(agent.owner, shown);
    const before = shown.sets.size + shown.offers.size;
    if (shown.sets.size <= MOST_SETS) {
      const offered = offeredBy(agent);
      shown.sets.set(laneKey(offered), offered);
    }
    const offer = store.view.workers.get(agent.id)?.offer;
    if (offer !== undefined) shown.offers.add(offer);
    if (shown.sets.size + shown.offers.size !== before) loop.poke(agent.owner);
  }

  function lacking(pool: Pool, asked: Labels): string | undefined {
    const names = Object.keys(asked);
    if (names.length === 0 || offersAll(pool.spec.labels, asked)) return undefined;
    const shown = shownIn.get(pool.id);
    if (!shown || shown.sets.size > MOST_SETS || pool.spec.offers.some(({ id }) => !shown.offers.has(id)))
      return undefined;
    const sets = [...shown.sets.values()].map((set): Labels => ({ ...pool.spec.labels, ...set }));
    const missing = names.filter((name) => !sets.some((set) => set[name] === asked[name]));
    // Where agents differ in a label, the next one may have yet another value.
    const mayVary = missing.some((name) => new Set(sets.map((set) => set[name])).size > 1);
    if (missing.length === 0 || mayVary) return undefined;
    return missing.map((name) => describeAsked(name, asked[name])).join(', ');
  }

  /** Queued sessions whose `unmatched` is outdated; at most as many as one pass writes. */
  function outdated(pool: Pool): Session[] {
    const known = new Map<string, string | undefined>();
    const found: Session[] = [];
    for (const session of store.view.sessions.by('queue', pool.id)) {
      const asked = askedLabels(session.spec);
      const key = laneKey(asked);
      if (!known.has(key)) known.set(key, lacking(pool, asked));
      const unmatched = known.get(key);
      if (session.unmatched !== unmatched) found.push({ ...session, unmatched });
      if (found.length === CHANGES_PER_PASS) break;
    }
    return found;
  }

  function reconcile(id: string): Again | undefined {
    const pool = store.view.pools.get(id);
    const changes = pool ? outdated(pool) : [];
    if (changes.length === 0) return undefined;
    store.commit(changes.map((session) => put('sessions', session))).catch(() => {});
    changed(id);
    return changes.length === CHANGES_PER_PASS ? { afterMs: 0 } : undefined;
  }

  const subscriptions = [
    store.onChange('agents', (after) => after && note(after)),
    store.onChange('pools', (after, before, id) => {
      if (after?.spec === before?.spec) return;
      if (after?.spec.labels !== before?.spec.labels) forgetShown(store, id);
      loop.poke(id);
    }),
  ];

  function forgetShown({ view }: Store, pool: string): void {
    shownIn.delete(pool);
    for (const worker of view.workers.by('pool', pool)) {
      const agent = view.agents.get(worker.id);
      if (agent) note(agent);
    }
  }

  return {
    lacking,
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      await loop.stop();
    },
  };
}

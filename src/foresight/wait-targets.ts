// Every few minutes, for each pool with a wait target and demand: how many slots it keeps idle from now on.
import type { Clouds } from '#clouds/clouds.ts';
import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import type { Log } from '#core/log.ts';
import { type Again, startLoop } from '#core/loop.ts';
import type { Pool, WaitTarget } from '#core/pool.ts';
import { poolInLog } from '#core/pool-counts.ts';
import type { Random } from '#core/random.ts';
import { scalingAt } from '#core/schedule.ts';
import { drop, put, type Store } from '#core/store.ts';
import {
  type AskedIdle,
  CHOOSE_EVERY_MS,
  chooseIdle,
  type Demanded,
  type IdleChoice,
  nextIdle,
  stillRemembered,
  stretchesAround,
} from './idle-choice.ts';
import type { ModelPolicy } from './model-question.ts';
import type { ModelThread } from './model-turns.ts';
import { demandOf, newestMachines, readSessions } from './past.ts';
import { offersNow, supplyFrom, withReportedSlots } from './pool-model.ts';

export interface WaitTargetDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly clouds: Pick<Clouds, 'priceOf'>;
  readonly model: Pick<ModelThread, 'run'>;
}

export interface WaitTargets {
  stop(): Promise<void>;
}

type Targeted = Pool & { readonly spec: { readonly waitTarget: WaitTarget } };

export function startWaitTargets(deps: WaitTargetDeps): WaitTargets {
  const { store, clock } = deps;
  // What this process has chosen in the last hour, by pool.
  const remembered = new Map<string, readonly AskedIdle[]>();

  async function reconcile(id: string, signal: AbortSignal): Promise<Again | undefined> {
    const pool = store.view.pools.get(id);
    if (!pool || !hasTarget(pool)) {
      remembered.delete(id);
      if (store.view.chosenIdle.get(id)) await store.commit([drop('chosenIdle', id)]);
      return undefined;
    }
    const choice = await choose(deps, pool, signal);
    // It may have been defined otherwise meanwhile: that has poked this loop again.
    if (!signal.aborted && store.view.pools.get(id)?.spec === pool.spec) await keep(pool, choice);
    return { afterMs: CHOOSE_EVERY_MS };
  }

  async function keep({ id, spec }: Targeted, choice: IdleChoice): Promise<void> {
    const nowMs = clock.now();
    const before = store.view.chosenIdle.get(id);
    const asked = [...stillRemembered(remembered.get(id) ?? [], nowMs), { atMs: nowMs, idleSlots: choice.idleSlots }];
    remembered.set(id, asked);
    const { slotsPerAgent } = spec.scaling;
    const idleSlots = nextIdle(before, asked, { nowMs, slotsPerAgent });
    if (idleSlots === (before?.idleSlots ?? 0)) return;
    await store.commit([put('chosenIdle', { id, idleSlots, at: nowMs, why: whyOf(spec.waitTarget, choice) })]);
  }

  const { poke, forget, stop } = startLoop({ ...deps, name: 'wait-targets', reconcile, logged: poolInLog(store) });
  const unsubscribe = store.onChange('pools', (after, before, id) => {
    if (!after) forget(id);
    if (after?.spec.waitTarget !== before?.spec.waitTarget) poke(id);
  });
  for (const pool of store.view.pools.all()) if (hasTarget(pool)) poke(pool.id);
  for (const { id } of store.view.chosenIdle.all()) poke(id);
  return {
    async stop() {
      unsubscribe();
      await stop();
    },
  };
}

const hasTarget = (pool: Pool): pool is Targeted =>
  pool.spec.waitTarget !== undefined && pool.spec.offers.length > 0 && !pool.removal;

function whyOf({ p95Ms }: WaitTarget, { sessions, isMet }: IdleChoice): string {
  const target = `wait_target p95 ${formatDuration(p95Ms)}, from ${sessions} session${sessions === 1 ? '' : 's'}`;
  return isMet ? target : `${target}, not met even so`;
}

const MOST_SESSIONS = 20_000;

async function choose(deps: WaitTargetDeps, pool: Targeted, signal: AbortSignal): Promise<IdleChoice> {
  const { store, clock, model } = deps;
  const stretches: Demanded[] = [];
  for (const stretch of stretchesAround(clock.now())) {
    const sessions = await readSessions(store, pool.id, { ...stretch, signal, mostRows: MOST_SESSIONS });
    stretches.push({ ...stretch, demand: demandOf({ ...stretch, sessions, machines: [] }) });
  }
  return chooseIdle({
    target: pool.spec.waitTarget,
    policy: await policyOf(deps, pool),
    stretches,
    first: store.view.chosenIdle.get(pool.id)?.idleSlots ?? 0,
    run: (question) => model.run(question, { signal }),
  });
}

/** As it is now, with the newest machines as the measure of those to come. */
async function policyOf({ store, clock, clouds }: WaitTargetDeps, pool: Pool): Promise<ModelPolicy> {
  const offers = offersNow(pool, clouds);
  const { scaling } = scalingAt(pool.spec, clock.now());
  return {
    scaling: withReportedSlots(store, pool, scaling),
    offers,
    supply: supplyFrom(offers, await newestMachines(store, pool)),
  };
}

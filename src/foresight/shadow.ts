// Policies that pools do not have, computed again and again over what really comes. No pass of a pool reads them.
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Forecast, Forecasts, Shadow } from '#core/forecast.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import { drop, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { policyOfDocument } from './changed-policy.ts';
import { type ForecastDeps, forecastIn, mustScale } from './forecast.ts';

export interface ShadowDeps extends ForecastDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'retention' | 'event'>;
}

export interface Shadows extends Pick<Forecasts, 'setShadow' | 'dropShadow' | 'shadowOf'> {
  stop(): Promise<void>;
}

const EVERY_MS = 5 * MINUTE_MS;
const SEED = 1;

interface Computed {
  readonly of: Shadow;
  readonly forecast?: Forecast | undefined;
  readonly problem?: string | undefined;
}

export function startShadows(deps: ShadowDeps): Shadows {
  const { store, clock, random, log, journal, kinds } = deps;
  const computed = new Map<string, Computed>();
  const stopping = new AbortController();

  async function compute(id: string): Promise<void> {
    const [pool, shadow] = [store.view.pools.get(id), store.view.shadows.get(id)];
    if (!shadow || !pool) {
      computed.delete(id);
      if (shadow) await store.commit([drop('shadows', id)]);
      return;
    }
    const { policy, warnings, since: sinceMs } = shadow;
    const compared = { policies: [pool.spec, policy], warnings } as const;
    try {
      mustScale(pool.spec);
      const question = { pool, demand: { sinceMs }, seed: SEED, compared };
      const forecast = await forecastIn(deps, question, { signal: stopping.signal });
      computed.set(id, { of: shadow, forecast });
    } catch (thrown) {
      const { kind, message } = Fault.from(thrown);
      // The one that was computed before still holds for its time.
      const before = computed.get(id);
      computed.set(id, { of: shadow, forecast: before?.of === shadow ? before.forecast : undefined, problem: message });
      if (kind === 'internal') throw thrown;
    }
  }

  const loop = startLoop({
    name: 'shadows',
    clock,
    random,
    log,
    concurrency: 1,
    async reconcile(id) {
      await compute(id);
      return store.view.shadows.get(id) ? { afterMs: EVERY_MS } : undefined;
    },
  });
  const stopFollowing = store.onChange('pools', (after, _before, id) => {
    if (!after && store.view.shadows.get(id)) loop.poke(id);
  });
  for (const { id } of store.view.shadows.all()) loop.poke(id);

  function shadowOf(id: string): ReturnType<Forecasts['shadowOf']> {
    const shadow = store.view.shadows.get(id);
    if (!shadow) return undefined;
    const last = computed.get(id);
    return last?.of === shadow ? { shadow, forecast: last.forecast, problem: last.problem } : { shadow };
  }

  return {
    shadowOf,
    async setShadow({ id, name, spec }, document, actor) {
      mustScale(spec);
      const { warnings, ...policy } = policyOfDocument(document, name, kinds);
      const shadow: Shadow = { id, policy, warnings, since: clock.now(), by: actor.who };
      const about = {
        subject: `pool/${name}`,
        pool: id,
        message: 'Another policy is computed beside that of the pool.',
      };
      await store.commit([put('shadows', shadow), journal.event({ kind: 'pool.shadowed', ...about }, actor)]);
      loop.poke(id);
      return { shadow };
    },
    async dropShadow({ id, name }, actor) {
      if (!store.view.shadows.get(id)) return;
      const about = {
        subject: `pool/${name}`,
        pool: id,
        message: 'No other policy is computed beside that of the pool.',
      };
      await store.commit([drop('shadows', id), journal.event({ kind: 'pool.unshadowed', ...about }, actor)]);
      computed.delete(id);
      loop.forget(id);
    },
    async stop() {
      stopFollowing();
      stopping.abort(new Fault('unavailable', 'The server stops.'));
      await loop.stop();
    },
  };
}

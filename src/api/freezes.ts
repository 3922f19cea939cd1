import { z } from 'zod';
import { FLEET } from '#core/worker.ts';
import type { ApiDeps } from './deps.ts';
import { gaugeSet } from './gauges.ts';
import type { Gauges, GaugeWorld, Noun } from './noun.ts';
import { freezeProblems } from './pool-problems.ts';
import { findPool } from './pools.ts';
import { type Route, route } from './route.ts';
import { shownFreeze } from './shown/pool.ts';
import { Freeze } from './wire/pool.ts';
import { listOf, Name } from './wire/shared.ts';

const pool = Name.optional().meta({ description: 'The pool to freeze; without it, the whole fleet.' });
const FreezeIn = z.strictObject({ pool, why: z.string().min(1).max(1_000).default('Asked for.') });
const ThawIn = z.strictObject({ pool });

function freezeRoutes({ store, workers }: ApiDeps): Route[] {
  const scopeOf = (name: string | undefined): string => (name === undefined ? FLEET : findPool(store, name).id);
  return [
    route({
      method: 'GET',
      path: '/freezes',
      role: 'viewer',
      summary: 'Lists what is frozen, by whom and why.',
      reply: listOf(Freeze),
      handle: () => ({ items: [...store.view.freezes.all()].map((freeze) => shownFreeze(freeze, store)) }),
    }),
    route({
      method: 'POST',
      path: '/freeze',
      role: 'operator',
      summary:
        'Stops all launching, deleting and requeueing at once. Existing workers still take sessions. Sessions that an agent runs and the server does not know are never killed, frozen or not.',
      body: FreezeIn.prefault({}),
      reply: Freeze,
      handle: async ({ body, caller }) =>
        shownFreeze(await workers.freeze(scopeOf(body.pool), body.why, caller), store),
    }),
    route({
      method: 'POST',
      path: '/thaw',
      role: 'operator',
      summary: 'Ends the freeze of the fleet or of a pool.',
      body: ThawIn.prefault({}),
      reply: listOf(Freeze).meta({ description: 'What is still frozen.' }),
      async handle({ body, caller }) {
        await workers.thaw(scopeOf(body.pool), caller);
        return { items: [...store.view.freezes.all()].map((freeze) => shownFreeze(freeze, store)) };
      },
    }),
  ];
}

function gauges({ registry, store }: GaugeWorld): Gauges {
  const frozen = gaugeSet(registry).gauge('muster_frozen', '1 while the whole fleet is frozen.');
  return { refresh: () => frozen.set(store.view.freezes.get(FLEET) ? 1 : 0) };
}

export const noun: Noun = { tag: 'freezes', order: 90, routes: freezeRoutes, problems: freezeProblems, gauges };

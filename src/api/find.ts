import { z } from 'zod';
import { inSlices } from '#core/slices.ts';
import type { ApiDeps } from './deps.ts';
import type { NamedThing, Noun, WholeApi } from './noun.ts';
import { type Route, route } from './route.ts';
import { Found } from './wire/find.ts';

const MOST_FOUND = 20;

/** 0: that is its name; 1: its name begins so; 2: its name holds it; 3: its text does; undefined: not at all. */
export function matchOf({ name, text = '' }: Pick<NamedThing, 'name' | 'text'>, words: string): number | undefined {
  const folded = name.toLowerCase();
  if (folded === words) return 0;
  if (folded.startsWith(words)) return 1;
  if (folded.includes(words)) return 2;
  return text.toLowerCase().includes(words) ? 3 : undefined;
}

/** The best of all that is named so; of equal ones those that come first. */
async function find({ clock }: ApiDeps, { named }: WholeApi, words: string): Promise<Found['items']> {
  if (words === '') return [];
  const best: NamedThing[][] = [[], [], [], []];
  await inSlices(clock, named(), (thing) => {
    const of = best[matchOf(thing, words) ?? -1];
    if (of && of.length < MOST_FOUND) of.push(thing);
  });
  return best
    .flat()
    .slice(0, MOST_FOUND)
    .map(({ text = '', ...thing }) => ({ ...thing, text }));
}

function findRoutes(deps: ApiDeps, whole: WholeApi): Route[] {
  return [
    route({
      method: 'GET',
      path: '/find',
      role: 'viewer',
      summary: 'Finds what has a name like that, in upper or lower case: at most 20, the best first.',
      query: z.strictObject({
        q: z.string().max(200).default('').meta({ description: 'Nothing is found without it.' }),
      }),
      reply: Found,
      handle: async ({ query }) => ({ items: await find(deps, whole, query.q.toLowerCase()) }),
    }),
  ];
}

export const noun: Noun = { tag: 'server', order: 116, routes: findRoutes };

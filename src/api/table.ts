import { type ChangeHub, openChangeHub } from './change-hub.ts';
import type { ApiDeps } from './deps.ts';
import { type FleetFigures, openFleetFigures } from './fleet-figures.ts';
import { type ChangeTable, type Noun, stopAll, type WholeApi } from './noun.ts';
import { nouns } from './nouns.gen.ts';
import type { Route } from './route.ts';

export const API_PREFIX = '/api/v1';

/** Every noun, in the order of the documentation. */
export const allNouns: readonly Noun[] = nouns.toSorted((a, b) => a.order - b.order);

/** The tables of the stream of changes, by name. */
export const changeTables: ReadonlyMap<string, ChangeTable> = new Map(
  allNouns.flatMap((noun) => (noun.changes ?? []).map((one) => [one.table, one] as const)),
);

export const openHub = ({ store, clock }: Pick<ApiDeps, 'store' | 'clock'>): ChangeHub =>
  openChangeHub(store, clock, [...changeTables.values()]);

/** What routes of all nouns follow together. */
export interface Followed {
  readonly hub: ChangeHub;
  readonly figures: FleetFigures;
}

export const openFollowed = (deps: Pick<ApiDeps, 'store' | 'clock'>): Followed & { stop(): void } => {
  const hub = openHub(deps);
  const figures = openFleetFigures(deps);
  return { hub, figures, stop: stopAll([hub.stop, figures.stop]) };
};

/** Every route there is: what is served, who may call it, and what the documentation says. */
export function allRoutes(deps: ApiDeps, { hub, figures }: Followed): Route[] {
  const made: Route[] = [];
  const problems: WholeApi['problems'] = (sums) =>
    Iterator.from(allNouns).flatMap((noun) => noun.problems?.(deps, sums) ?? []);
  const named: WholeApi['named'] = () => Iterator.from(allNouns).flatMap((noun) => noun.named?.(deps) ?? []);
  const whole: WholeApi = { hub, figures, problems, named, changes: changeTables, routes: () => made };
  for (const { tag, routes, rootRoutes } of allNouns) {
    for (const route of routes?.(deps, whole) ?? []) made.push({ ...route, tag, path: API_PREFIX + route.path });
    for (const route of rootRoutes?.(deps, whole) ?? []) made.push({ ...route, tag });
  }
  return made;
}

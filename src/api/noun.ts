import type { Registry } from 'prom-client';
import type { Role } from '#core/access.ts';
import type { Clock } from '#core/clock.ts';
import type { PublicFeatures } from '#core/feature.ts';
import type { Store } from '#core/store.ts';
import type { StatusWorld } from '../pools/status.ts';
import type { ChangeHub } from './change-hub.ts';
import type { ApiDeps } from './deps.ts';
import type { FleetFigures } from './fleet-figures.ts';
import type { ReportedProblem } from './fleet-problems.ts';
import type { FleetSums } from './fleet-sums.ts';
import type { PoolLabels } from './pool-labels.ts';
import type { Route } from './route.ts';

/** One noun of the HTTP API. `npm run gen` lists every file of this folder that exports one as `noun`. */
export interface Noun {
  /** Its heading in the documentation; several files may share one. */
  readonly tag: string;
  /** Its position in the documentation. */
  readonly order: number;
  /** Below `/api/v1`. */
  routes?(deps: ApiDeps, whole: WholeApi): readonly Route[];
  /** Outside of `/api/v1`. */
  rootRoutes?(deps: ApiDeps, whole: WholeApi): readonly Route[];
  /** Its tables on the stream of changes. */
  readonly changes?: readonly ChangeTable[];
  /** What of it needs somebody now. */
  problems?(deps: ApiDeps, sums: FleetSums): Iterable<ReportedProblem>;
  /** What of it people go to by name. */
  named?(deps: ApiDeps): Iterable<NamedThing>;
  /** Its gauges for Prometheus. */
  gauges?(world: GaugeWorld): Gauges;
}

/** Something with a page of its own. */
export interface NamedThing {
  /** As `pool`. */
  readonly kind: string;
  readonly name: string;
  /** Its path in the dashboard. */
  readonly link: string;
  /** What else one may look for, such as an id. */
  readonly text?: string | undefined;
}

/** What the few routes need that serve all nouns. */
export interface WholeApi {
  readonly hub: ChangeHub;
  /** The tables of the stream of changes, by name. */
  readonly changes: ReadonlyMap<string, ChangeTable>;
  readonly figures: FleetFigures;
  /** Of all nouns. */
  problems(sums: FleetSums): Iterable<ReportedProblem>;
  /** Of all nouns. */
  named(): Iterable<NamedThing>;
  /** All routes; call it only when all are known. */
  routes(): readonly Route[];
}

/** Reports a changed row. `kept` is the row itself, if memory no longer has it. */
export type Touched = (id: string | undefined, kept?: unknown) => void;

/** A table of the stream of changes: which rows have changed, and what they are when they are sent. */
export interface ChangeTable {
  readonly table: string;
  /** Follows everything that the row shows while the stream has readers; the returned function ends that. */
  follow(store: Store, touched: Touched): () => void;
  /** The row as it is now, as that role sees it; undefined where it is gone. */
  row(id: string, deps: ApiDeps, seen: { readonly role: Role; readonly kept: unknown }): unknown;
}

/** How the syncs of each configured source went. */
export type SyncTimes = StatusWorld['timings'];

export interface GaugeWorld {
  readonly registry: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly poolLabels: PoolLabels;
  syncTimes(): SyncTimes;
  /** Those that have started. */
  features(): Partial<PublicFeatures>;
}

/** Gauges of one noun. */
export interface Gauges {
  /** Sets them to what they are now; called before each scrape. */
  refresh(): void | Promise<void>;
  stop?(): void;
}

/** Ends several things at once. */
export const stopAll = (stops: readonly (() => void)[]) => (): void => {
  for (const stop of stops) stop();
};

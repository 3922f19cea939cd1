// What the parts of this folder share: dependencies, parsed documents, and the status of each source.
import type { CallLimits, Gate } from '#clouds/gate.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import type { Document, Source } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { API_SOURCE, type DocumentReport, type PoolNeed } from '#core/source.ts';
import type { Change, Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { keepParsedDocuments, type ParsedDocuments } from './parsed-documents.ts';
import type { PoolReader } from './read-document.ts';

/** What the operator allows a source to define. */
export interface Allow {
  /** The backend kinds that its pools may name. */
  readonly backends?: readonly string[] | undefined;
  /** The most that `max_agents` of one of its pools may be. */
  readonly maxAgents?: number | undefined;
  readonly namePrefix?: string | undefined;
  /** Budgets count the prices that its pools state where their clouds have none. */
  readonly prices?: boolean | undefined;
  /** The namespaces that its documents may be in: what stands before the slash of their keys. */
  readonly namespaces?: readonly string[] | undefined;
}

/** A source as the configuration names it, opened. */
export interface OpenedSource {
  /** Its `name:`, or kind and place; never its position. */
  readonly id: string;
  readonly kind: string;
  /** Where it reads, such as a path or prefix: if that changes under the same id, what is missing there is held. */
  readonly place?: string | undefined;
  readonly source: Source;
  readonly everyMs: number;
  /** The operator's own file may name every kind; a foreign document only harmless ones. */
  readonly trust: 'operator' | 'foreign';
  readonly allow?: Allow | undefined;
  /** Operator-only backends that its documents may name all the same. */
  readonly mayName?: readonly string[] | undefined;
  /** Calls a second that its place allows. */
  readonly limits?: CallLimits | undefined;
}

/** What shares the budget of its calls; it begins with the kind, by which calls are counted. */
export const accountOf = ({ id, kind }: Pick<OpenedSource, 'id' | 'kind'>): string =>
  id.startsWith(`${kind}:`) ? id : `${kind}:${id}`;

/** Documents that their writers have deleted, by key. */
export type DeletedDocuments = ReadonlyMap<string, { readonly version: string; readonly isForced?: true | undefined }>;

/** What a pool was last seen to do, for the reports about it. */
export interface PoolActivity {
  readonly decision?: DocumentReport['decision'];
  readonly lastAction?: DocumentReport['lastAction'];
  readonly trouble?: DocumentReport['trouble'];
  /** Absent until a pass has looked at its definition and its machines. */
  readonly need?: PoolNeed | undefined;
}

export interface PoolsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Pick<Journal, 'event'>;
  readonly readPool: PoolReader;
  readonly sources: readonly OpenedSource[];
  /** Removes secrets from error messages of sources and parsers. */
  readonly redact?: ((text: string) => string) | undefined;
  /** The way out for reports: durable first, lease checked, within the budget of the source. */
  readonly gate: Gate;
  /** By the id of a pool. */
  /** Ends the freeze of one pool, by its id. */
  readonly thaw?: ((pool: string, actor: Actor) => Promise<void>) | undefined;
  readonly activityOf?: ((pool: string) => PoolActivity) | undefined;
}

/** How the syncs of a source went, in memory: a sync without news is not written. */
export interface SyncTiming {
  readonly everyMs: number;
  readonly lastTriedAt?: number | undefined;
  readonly lastGoodAt?: number | undefined;
  /** How long the last good sync took. */
  readonly durationMs?: number | undefined;
  readonly fault?: Fault | undefined;
  /** Failures in a row. */
  readonly failures: number;
  /** What the source says of its last good listing. */
  readonly notes?: readonly string[] | undefined;
}

/** Outcome of one sync. */
export interface SyncOutcome {
  /** Why it could not be read; then nothing else is known. */
  readonly fault?: Fault | undefined;
  readonly documents: number;
  /** How many of them were new or changed. */
  readonly read: number;
  /** Documents that own a pool, and were not there. */
  readonly missing: number;
  /** Names of pools. */
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly removing: readonly string[];
  /** All pools of the source whose removal waits for approval. */
  readonly held: readonly string[];
  /** All that are dropped and neither removed nor held yet, and what each waits for. */
  readonly waiting: readonly { readonly pool: string; readonly why: string }[];
}

/** A configured source at work. */
export interface SourceRunner {
  opened: OpenedSource;
  readonly log: Log;
  /** Aborted when the source is closed or replaced. */
  readonly closed: AbortController;
  timing: SyncTiming;
  /** Settled by the end of its first sync, good or not, and when it is closed. */
  readonly firstSync: PromiseWithResolvers<void>;
  /** The tick at which its last good listing began; 0: not read since it was opened. */
  readTick: number;
  /** When the next listing is due that may confirm what is missing. */
  nextPollMs: number;
  /** Someone asked for a sync. */
  isAsked: boolean;
  /** Those who want to know what came of the next sync that begins. */
  readonly waiting: Set<(outcome: SyncOutcome) => void>;
  /** Names that it claimed before it was opened anew, to be looked at after the next listing. */
  readonly staleNames: Set<string>;
  /** Its pools whose document no longer gives their name, and in how many good listings in a row that was so. */
  readonly renamedAway: Map<string, number>;
  /** By key: the documents that the last good listing shows as deleted by their writers. */
  deleted: DeletedDocuments;
  /** Its last good listing, as it answered and by key, and what it was compared with. */
  listed?: ListedDocuments | undefined;
}

export interface ListedDocuments {
  readonly documents: readonly Document[];
  readonly byKey: ReadonlyMap<string, Document>;
  /** What the source wants to keep; absent where it keeps nothing. */
  decided?: Readonly<Record<string, string>> | undefined;
  /** The comparison found nothing new, bad, missing or deleted; it holds while these two are the same. */
  sameAs?: { readonly revision: number; readonly rows: number } | undefined;
}

export interface Registry {
  readonly deps: PoolsDeps;
  readonly parsedDocuments: ParsedDocuments;
  /** In the order of the configuration. */
  readonly runners: Map<string, SourceRunner>;
  /** Numbers moments in the order in which they happened. */
  tick(): number;
  poolNamed(name: string): Pool | undefined;
  redact(text: string): string;
  /** Applies at once. The promise may be left alone: a failed commit ends the process. */
  commit(changes: readonly Change[]): Promise<void>;
}

export function makeRegistry(deps: PoolsDeps): Registry {
  let ticks = 0;
  return {
    deps,
    parsedDocuments: keepParsedDocuments(),
    runners: new Map(),
    tick: () => ++ticks,
    redact: deps.redact ?? ((text) => text),
    poolNamed(name) {
      for (const pool of deps.store.view.pools.by('name', name)) return pool;
      return undefined;
    },
    commit(changes) {
      const committed = deps.store.commit(changes);
      committed.catch(() => {});
      return committed;
    },
  };
}

/** For loops over sources: their lines name the source as all others do. */
export const sourceLog =
  (log: Log): Log =>
  (level, message, fields) =>
    log(level, message, { provisioner: fields?.id, ...fields });

export const isConfigured = ({ runners }: Registry, source: string): boolean =>
  source === API_SOURCE || runners.has(source);

export const missingSource = (source: string): Fault =>
  new Fault('missing', `There is no source "${source}" in the configuration.`, {
    remedy: 'List sources with `muster source ls`.',
  });

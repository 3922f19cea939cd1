import type { FaultKind } from './fault.ts';
import type { PriceTrust } from './machine-price.ts';
import type { PoolPhase } from './pool.ts';
import type { PoolCounts } from './pool-counts.ts';
import type { Problem } from './problem.ts';
import { type Row, table } from './table.ts';
import type { Freeze } from './worker.ts';

/** How a source is doing; its identity is its name, or kind and place, never its position. */
export interface SourceState extends Row {
  readonly id: string;
  readonly kind: string;
  /** Where it was read from when nothing was missing; elsewhere, whatever is missing there is held. */
  readonly place?: string | undefined;
  /** As of the last sync that changed anything; syncs without news are not written. */
  readonly lastGoodAt?: number | undefined;
  readonly fault?:
    | { readonly kind: FaultKind; readonly message: string; readonly remedy?: string | undefined; readonly at: number }
    | undefined;
  /** How it decided once to read its configuration; only its kind knows what the entries mean. */
  readonly decided?: Readonly<Record<string, string>> | undefined;
  /** What the prices in its documents count for budgets; absent: only such as exceed that of the cloud. */
  readonly prices?: PriceTrust | undefined;
  /** Pools that this source dropped a short while ago, by name: such removals are judged together. */
  readonly removed?: readonly { readonly at: number; readonly pools: readonly string[] }[] | undefined;
  /** Removals that wait for approval. Until then their pools go on as they are defined. */
  readonly held?: { readonly at: number; readonly why: string; readonly keys: readonly string[] } | undefined;
}

/** How one document of a source is doing. */
export interface DocumentState extends Row {
  /** Source and key, joined by a newline. */
  readonly id: string;
  readonly source: string;
  readonly key: string;
  readonly version: string;
  /** When this version was first read. */
  readonly readAt?: number | undefined;
  readonly pool?: string | undefined;
  readonly fault?:
    | {
        readonly kind: FaultKind;
        /** All of it in one line, each problem with its place where there are several. */
        readonly message: string;
        /** Of a single problem. */
        readonly place?: string | undefined;
        /** Absent where it was stored by an older version, or is about no place. */
        readonly problems?: readonly Problem[] | undefined;
      }
    | undefined;
  /** In how many good listings in a row it was missing. */
  readonly missed: number;
  /** Kept only where the store itself is the source: pools of the API. Never shown, since it may hold secrets. */
  readonly text?: string | undefined;
}

/** A decision of a pool, as it is reported to the writer of its document. */
export interface ReportedDecision {
  readonly did: string;
  /** The codes of what led to it: `demand`, `max-agents`. */
  readonly reasons: readonly string[];
  readonly why: string;
  readonly at: number;
}

/** What the last pass of a pool found that it must have. */
export interface PoolNeed {
  /** Workers for its minimum, its idle slots, its sessions and the queue, within its bounds. */
  readonly wanted: number;
  /** Workers whose agent is away for so long that it is no longer expected back any moment. */
  readonly lost: number;
}

/** Why a pool gets no machines, or cannot list them. */
export interface PoolTrouble {
  readonly kind: FaultKind;
  /** One word: `ListFailed`, `LaunchFailed`, or what the cloud calls the state of a machine that does not start. */
  readonly reason?: string | undefined;
  /** Cause and remedy in one line. */
  readonly message: string;
  /** The cause alone, where it is known apart from the remedy. */
  readonly cause?: string | undefined;
  readonly remedy?: string | undefined;
}

/** The status of a pool that is reported to the writer of its document. */
export interface DocumentReport {
  readonly version: string;
  readonly pool?: string | undefined;
  /** `refused`: it forms no pool; the fault says why. A fault beside another phase: the last good definition stands. */
  readonly phase: PoolPhase | 'refused';
  readonly fault?: DocumentState['fault'];
  /** The document that has the name, where this one was refused for it. */
  readonly takenBy?: { readonly key: string; readonly isSameKind: boolean } | undefined;
  /** Present where there is a pool. */
  readonly counts?: PoolCounts | undefined;
  /** How many workers the pool must have now: for its minimum, for its idle slots, and for what the last plan asks for. */
  readonly wanted?: number | undefined;
  /** Workers whose agent is away and expected back any moment: after a restart of the server these are all. */
  readonly returning?: number | undefined;
  /** A pass has looked at the definition in force, and at the machines of the pool. */
  readonly isPlanned?: boolean | undefined;
  /** Its own freeze, or that of the fleet, which comes first: thawing the pool alone would not end it. */
  readonly frozen?: (Freeze & { readonly isFleet: boolean }) | undefined;
  /** The last thing the pool did or did not do, and why. */
  readonly decision?: ReportedDecision | undefined;
  /** The last thing that it did. */
  readonly lastAction?: ReportedDecision | undefined;
  /** Why it cannot get machines at present. */
  readonly trouble?: PoolTrouble | undefined;
  /** While it is being removed: what it waits for, and until when. */
  readonly drain?: { readonly sessions: number; readonly deadlineAt: number } | undefined;
}

/** The source of pools that were defined through the API. */
export const API_SOURCE = 'api';

/** The id of a document's row. */
export function documentId(source: string, key: string): string {
  return `${source}\n${key}`;
}

export const sourceTables = {
  sources: table<SourceState>()({ writer: 'pools', indexes: {} }),
  documents: table<DocumentState>()({
    writer: 'pools',
    indexes: { source: (d) => d.source, faulty: (d) => (d.fault ? d.source : undefined) },
  }),
} as const;

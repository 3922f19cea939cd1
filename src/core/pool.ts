import type { Schedule } from './schedule.ts';
import { type Row, table } from './table.ts';

/** One way to make machines for a pool: a backend kind and its checked configuration. */
export interface Offer extends Row {
  /** Hash of kind and configuration: equal offers share one id. Offers that differ in credentials or limits alone share the shape of their machines. */
  readonly id: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** A price in dollars an hour, and since when. */
export interface Price {
  readonly from: number;
  readonly perHour: number;
}

/** An offer that a machine may have been made from. */
export interface KeptOffer extends Offer {
  /** What its cloud said that a machine of it costs, by time. */
  readonly prices?: readonly Price[] | undefined;
  /** When it was kept, where no creation was ever sent from it; absent: its cloud may have made a machine. */
  readonly uncalledSince?: number | undefined;
}

/** What a pool says about one of its offers. */
export interface Terms {
  /** In dollars, for one machine. */
  readonly pricePerHour?: number | undefined;
  readonly maxAgents?: number | undefined;
}

export const UPDATE_POLICIES = ['keep', 'replace_idle', 'rolling'] as const;
/** What becomes of workers that were made from an older definition; a busy one is never taken away. */
export type UpdatePolicy = (typeof UPDATE_POLICIES)[number];

/** How a pool keeps its size; counts of idle are in slots, as users of `min_idle_agents` know them. */
export interface Scaling {
  readonly mode: 'standard' | 'batch';
  readonly minAgents: number;
  /** 0 never scales up. */
  readonly maxAgents: number;
  readonly minIdleSlots: number;
  readonly maxIdleSlots: number;
  readonly idleDecayMs: number;
  /** Absent: wait until no machine is unknown. */
  readonly initialDelayMs?: number | undefined;
  readonly syncEveryMs: number;
  /** 0 leaves unknown machines alone. */
  readonly killUnknownAfterMs: number;
  /** Assumed of a worker until its agent says how many it has. */
  readonly slotsPerAgent: number;
  readonly retryDelayMs: number;
  readonly errorResetAfterMs: number;
  readonly bootTimeoutMs: number;
  /** In dollars, for all machines of the pool together. */
  readonly maxPricePerHour?: number | undefined;
}

/** How long sessions may wait; the server chooses how many slots idle for it. */
export interface WaitTarget {
  /** 95 of 100 sessions start within this time. */
  readonly p95Ms: number;
  readonly maxIdleSlots: number;
}

export const AGENT_AUTHS = ['token', 'mtls', 'machine', 'network'] as const;

export interface PoolSpec {
  readonly name: string;
  readonly description?: string | undefined;
  /** Empty: a manual pool, whose agents come by themselves. */
  readonly offers: readonly Offer[];
  /** By the id of the offer; absent where nothing is said about any. */
  readonly terms?: Readonly<Record<string, Terms>> | undefined;
  /** Absent: `replace_idle`. */
  readonly updatePolicy?: UpdatePolicy | undefined;
  readonly scaling: Scaling;
  /** Windows in which other limits hold. */
  readonly schedules?: readonly Schedule[] | undefined;
  readonly waitTarget?: WaitTarget | undefined;
  readonly drainTimeoutMs: number;
  readonly agentAuth: (typeof AGENT_AUTHS)[number];
  /** With `network`: where agents without a token may come from. */
  readonly agentNetworks: readonly string[];
  /** What the agents of this pool offer to sessions that ask for labels. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface Pool extends Row {
  readonly id: string;
  readonly name: string;
  readonly spec: PoolSpec;
  /** The one source that may change or remove it, and the document there. */
  readonly owner: { readonly source: string; readonly key: string; readonly version: string };
  readonly createdAt: number;
  readonly changedAt: number;
  /** Grows with every change; the ETag of the API. */
  readonly revision: number;
  readonly pausedAt?: number | undefined;
  /** Set while it drains: nothing new starts, and it is forgotten when its last worker is gone. */
  readonly removal?: { readonly at: number; readonly deadlineAt: number; readonly why: string } | undefined;
}

export const POOL_PHASES = ['active', 'manual', 'paused', 'removing'] as const;
export type PoolPhase = (typeof POOL_PHASES)[number];

export function poolPhase(pool: Pool): PoolPhase {
  if (pool.removal) return 'removing';
  if (pool.pausedAt !== undefined) return 'paused';
  return pool.spec.offers.length === 0 ? 'manual' : 'active';
}

export const poolTables = {
  pools: table<Pool>()({
    writer: 'pools',
    subject: 'pool',
    indexes: { name: (p) => p.name, source: (p) => p.owner.source, phase: poolPhase },
  }),
  offers: table<KeptOffer>()({ writer: 'machines', indexes: {} }),
} as const;

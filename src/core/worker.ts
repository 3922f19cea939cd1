import type { Boot, Mark } from './provider.ts';
import { type Row, table } from './table.ts';

/** What we asked a cloud for; it joins the machine that the cloud has and the agent that is connected. */
export interface Worker extends Row {
  /** Its name, and the id of its agent; never used again. */
  readonly id: string;
  readonly pool: string;
  /** Absent for a machine that we did not launch: adopted, or come by itself to a manual pool. */
  readonly launch?: string | undefined;
  readonly offer?: string | undefined;
  /** The name under which the cloud lists it; its own, except where the cloud insists on another. */
  readonly machine: string;
  readonly askedAt: number;
  /** Of the machine, in dollars, as its pool said when it was asked for. */
  readonly pricePerHour?: number | undefined;
  /** When the cloud said yes. */
  readonly createdAt?: number | undefined;
  /** When its agent first joined: durable, so that a restart does not take it for one that never booted. */
  readonly joinedAt?: number | undefined;
  /** SHA-256 of the key that its agent made for itself: the launch token alone never opens the door twice. */
  readonly credential?: string | undefined;
  /** What its offer came to when it was asked for, where the cloud tells. */
  readonly form?: string | undefined;
  /** Its machine is stopped, or will be, and waits for a launch that wakes it. */
  readonly parked?: { readonly at: number } | undefined;
  /** It was parked, was woken, and has not joined since. */
  readonly isWaking?: true | undefined;
  /** No new sessions; deleted when the last one has ended, or at the deadline. */
  readonly drain?: Drain | undefined;
  /** Once committed this is final: it will be gone, and whatever comes under its name is refused. */
  readonly removal?: { readonly at: number; readonly why: string } | undefined;
}

export interface Drain {
  readonly at: number;
  readonly why: string;
  readonly deadlineAt?: number | undefined;
  /** Its cloud takes the machine away then, and has said so: its end is no loss that anybody need look into. */
  readonly isTaken?: true | undefined;
}

/** A committed request for one or more named machines: same id, same bytes, always. */
export interface LaunchRecord extends Row {
  readonly id: string;
  readonly pool: string;
  readonly offer: string;
  readonly mark: Mark;
  readonly names: readonly string[];
  readonly agentConfig: string;
  readonly install?: Boot['install'];
  readonly askedAt: number;
}

/** A connected agent. In memory only: agents come back by themselves. */
export interface Agent extends Row {
  /** The name of its worker. */
  readonly id: string;
  readonly pool: string;
  /** Grows with every connection: the end of an old stream never counts against a newer one. */
  readonly epoch: number;
  readonly slots: number;
  readonly labels: Readonly<Record<string, string>>;
  /** `velda` agents know nothing of our own fields. */
  readonly wire: 'muster' | 'velda';
  readonly version: string;
  readonly hostname: string;
  readonly address: string;
  readonly connectedAt: number;
}

/** Stops all action of a pool, or of the whole fleet under the id `fleet`. */
export interface Freeze extends Row {
  readonly id: string;
  readonly at: number;
  readonly why: string;
  readonly by: string;
  /** Set by the guard against mass loss: it lifts by itself when the agents are back. */
  readonly automatic: boolean;
}

export const FLEET = 'fleet';

export const WORKER_PHASES = [
  'launching',
  'booting',
  'idle',
  'busy',
  'draining',
  'lost',
  'parked',
  'deleting',
] as const;
export type WorkerPhase = (typeof WORKER_PHASES)[number];

/** A phase is computed from facts and never stored, so that it cannot disagree with them. */
export function workerPhase(worker: Worker, agent: Agent | undefined, sessions: number): WorkerPhase {
  if (worker.removal) return 'deleting';
  if (worker.drain) return 'draining';
  if (worker.parked) return 'parked';
  if (agent) return sessions > 0 ? 'busy' : 'idle';
  if (worker.joinedAt !== undefined) return 'lost';
  return worker.createdAt === undefined ? 'launching' : 'booting';
}

export const workerTables = {
  workers: table<Worker>()({
    writer: 'workers',
    indexes: { pool: (w) => w.pool, launch: (w) => w.launch, machine: (w) => w.machine, offer: (w) => w.offer },
  }),
  launches: table<LaunchRecord>()({ writer: 'workers', indexes: { pool: (l) => l.pool } }),
  agents: table<Agent>()({ writer: 'workers', volatile: true, indexes: { pool: (a) => a.pool } }),
  freezes: table<Freeze>()({ writer: 'workers', indexes: {} }),
} as const;

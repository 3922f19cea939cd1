import type { Agent, MachineRow } from './machine.ts';
import { type Row, table } from './table.ts';

/** What we asked a cloud for; it joins the machine that the cloud has and the agent that is connected. */
export interface Worker extends MachineRow {
  readonly pool: string;
  /** No new sessions; deleted when the last one has ended, or at the deadline. */
  readonly drain?: Drain | undefined;
}

export interface Drain {
  readonly at: number;
  readonly why: string;
  readonly deadlineAt?: number | undefined;
  /** The cloud has announced that it reclaims the machine then: its end does not count as a loss. */
  readonly isTaken?: true | undefined;
  /** Its agent joined by itself and knows no command to stop: its row stays, and keeps it out. */
  readonly isKept?: true | undefined;
}

/** Stops all action of a pool, or of the whole fleet under the id `fleet`. */
export interface Freeze extends Row {
  readonly id: string;
  readonly at: number;
  readonly why: string;
  readonly by: string;
  /** Set by the mass-loss guard: it ends by itself when the agents have reconnected. */
  readonly automatic: boolean;
}

export const FLEET = 'fleet';

interface Freezes {
  readonly view: { readonly freezes: { get(id: string): Freeze | undefined } };
}

/** Whether a pool is frozen, by its own freeze or the fleet's. */
export function isFrozen({ view }: Freezes, pool: string): boolean {
  return view.freezes.get(FLEET) !== undefined || view.freezes.get(pool) !== undefined;
}

/** What an operator runs to end a freeze: of a pool by its name, or of the fleet. */
export const thawCommand = (pool?: string): string => (pool === undefined ? 'muster thaw' : `muster thaw -p ${pool}`);

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
  freezes: table<Freeze>()({ writer: 'workers', indexes: {} }),
} as const;

import type { Agent } from './machine.ts';
import type { Scaling } from './pool.ts';
import type { Store } from './store.ts';
import { WORKER_PHASES, type Worker, type WorkerPhase, workerPhase } from './worker.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type ByPhase = Readonly<Record<WorkerPhase, number>>;

/** What a pool has at this moment. */
export interface PoolCounts {
  readonly workers: ByPhase & { readonly total: number };
  /** Of the agents that are connected. */
  readonly slots: { readonly total: number; readonly free: number };
  readonly sessions: { readonly queued: number; readonly placed: number };
}

export function noWorkers(): Mutable<ByPhase> {
  return Object.fromEntries(WORKER_PHASES.map((phase) => [phase, 0])) as Mutable<ByPhase>;
}

/** All that an agent runs: our sessions, and those that we do not know. */
export function sessionsOn(store: Pick<Store, 'view'>, worker: string): number {
  return sessionsWith(store, worker, store.view.agents.get(worker));
}

/** The same where the agent is at hand: every pass asks for every worker, and each search in a large table costs. */
export function sessionsWith({ view }: Pick<Store, 'view'>, worker: string, agent: Agent | undefined): number {
  return view.sessions.count('worker', worker) + (agent?.unknown?.length ?? 0);
}

export function phaseOf(store: Pick<Store, 'view'>, worker: Worker): WorkerPhase {
  const agent = store.view.agents.get(worker.id);
  return workerPhase(worker, agent, sessionsWith(store, worker.id, agent));
}

/** Only a worker that takes sessions has free slots. */
export function freeSlots(agent: Agent, phase: WorkerPhase, sessions: number): number {
  return phase === 'idle' || phase === 'busy' ? Math.max(0, agent.slots - sessions) : 0;
}

/** Counts the workers and sessions of a pool, by its id. */
export function countPool(store: Pick<Store, 'view'>, pool: string): PoolCounts {
  const { view } = store;
  const workers = { total: 0, ...noWorkers() };
  const slots = { total: 0, free: 0 };
  for (const worker of view.workers.by('pool', pool)) {
    const agent = view.agents.get(worker.id);
    const sessions = sessionsWith(store, worker.id, agent);
    const phase = workerPhase(worker, agent, sessions);
    workers.total += 1;
    workers[phase] += 1;
    if (!agent) continue;
    slots.total += agent.slots;
    slots.free += freeSlots(agent, phase, sessions);
  }
  const queued = view.sessions.count('queue', pool);
  return { workers, slots, sessions: { queued, placed: view.sessions.count('pool', pool) - queued } };
}

/** What log lines call a pool: its name, not its id. */
export const poolInLog =
  ({ view }: Pick<Store, 'view'>) =>
  (id: string): { readonly pool: string } => ({ pool: view.pools.get(id)?.name ?? id });

/** The fewest workers that a pool must have without any session: for its minimum and for its idle slots. */
export function leastWorkers({ mode, minAgents, maxAgents, minIdleSlots, slotsPerAgent }: Scaling): number {
  if (mode === 'batch') return 0;
  return Math.min(maxAgents, Math.max(minAgents, Math.ceil(minIdleSlots / slotsPerAgent)));
}

// Why machines of a pool have no agent: what their cloud shows of them, and why the server refuses the agents that call.
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Fault, FaultKind } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import type { PoolTrouble } from '#core/source.ts';
import type { Worker } from '#core/worker.ts';
import type { WorkersContext } from './context.ts';
import type { AgentRefusal } from './pool-memory.ts';

/** What people can mend. Everything else passes by itself, or is a matter between two connections. */
const TOLD: ReadonlySet<FaultKind> = new Set(['denied', 'unauthenticated', 'missing', 'invalid', 'unavailable']);
// A cloud lists the address of a new machine a little later than its agent calls.
const PASSES_WITHIN_MS = 30 * SECOND_MS;
// A container that ends when it is refused calls again after five minutes at the latest.
const FORGET_AFTER_MS = 10 * MINUTE_MS;

/** The agent of a worker was refused; answers whether that is news for its pool. */
export function observeRefusal({ store, pools, clock }: WorkersContext, worker: Worker, fault: Fault): boolean {
  const isUnwanted = worker.removal || worker.drain || worker.parked;
  if (isUnwanted || !TOLD.has(fault.kind) || store.view.agents.get(worker.id)) return false;
  const { refused } = pools.of(worker.pool);
  const before = refused.get(worker.id);
  const atMs = clock.monotonic();
  const { kind, message, remedy } = fault;
  // The oldest stays the first, so that the pool names the same one at each try.
  refused.set(worker.id, { kind, message, remedy, atMs, sinceMs: before?.sinceMs ?? atMs });
  return before?.kind !== kind || before.message !== message;
}

export function forgetRefusal({ pools }: WorkersContext, { pool, id }: Pick<Worker, 'pool' | 'id'>): void {
  if (pools.read(pool).refused.has(id)) pools.of(pool).refused.delete(id);
}

export interface MachineTrouble extends PoolTrouble {
  readonly event: 'worker.refused' | 'worker.trouble';
  readonly worker: string;
}

export function machineTroubleOf(context: WorkersContext, pool: string): MachineTrouble | undefined {
  return refusalOf(context, pool) ?? bootTroubleOf(context, pool);
}

const shownFromMs = ({ kind, sinceMs }: AgentRefusal): number =>
  sinceMs + (kind === 'unavailable' ? PASSES_WITHIN_MS : 0);
const shownUntilMs = ({ atMs }: AgentRefusal): number => atMs + FORGET_AFTER_MS;

function refusalOf({ store, pools, clock }: WorkersContext, id: string): MachineTrouble | undefined {
  const { refused } = pools.read(id);
  // Of most pools.
  if (refused.size === 0) return undefined;
  const nowMs = clock.monotonic();
  for (const [worker, refusal] of refused) {
    if (nowMs < shownFromMs(refusal) || nowMs >= shownUntilMs(refusal)) continue;
    const name = store.view.pools.get(id)?.name ?? id;
    const why = `the server refuses the agent of ${worker} in pool ${name}: ${refusal.message}`;
    const { kind, remedy } = refusal;
    const message = [why, remedy].filter(Boolean).join(' ');
    return { event: 'worker.refused', worker, kind, reason: 'AgentRefused', message, cause: why, remedy };
  }
  return undefined;
}

/** When the passing of time alone changes what is told of refused agents. */
export function refusalsChangeAtMs({ pools, clock }: WorkersContext, pool: string): number {
  let againAtMs = Number.POSITIVE_INFINITY;
  const nowMs = clock.monotonic();
  for (const refusal of pools.read(pool).refused.values())
    for (const atMs of [shownFromMs(refusal), shownUntilMs(refusal)])
      if (atMs > nowMs) againAtMs = Math.min(againAtMs, atMs);
  return againAtMs;
}

/** What keeps a machine of the pool from starting, or its agent from running there, as its cloud says. */
function bootTroubleOf({ store, clouds, owned }: WorkersContext, pool: string): MachineTrouble | undefined {
  // A pool whose agents are all connected waits for none.
  if (!owned.waiting.has(pool)) return undefined;
  for (const { id, removal, parked, offer, machine } of store.view.workers.by('pool', pool)) {
    if (removal || parked || offer === undefined || store.view.agents.get(id)) continue;
    const trouble = clouds.listing(offer)?.machines.get(machine)?.trouble;
    if (!trouble) continue;
    const { kind, reason, message } = trouble;
    return { event: 'worker.trouble', worker: id, kind, reason, message };
  }
  return undefined;
}

const STATES: Readonly<Record<Machine['state'], string>> = {
  creating: 'its cloud is creating the machine',
  running: 'its machine runs, and its agent has not joined',
  suspending: 'its cloud is stopping the machine',
  suspended: 'its machine is stopped',
  deleting: 'its cloud is deleting the machine',
  failed: 'its machine has failed',
};

/** What a worker waits for whose agent has not joined; undefined: its agent has, or is not wanted any more. */
export function bootWaitOf({ store, clouds, pools }: WorkersContext, worker: Worker): string | undefined {
  const { id, pool, offer, machine: name, joinedAt, removal, drain, parked, createdAt } = worker;
  if (joinedAt !== undefined || removal || drain || parked || store.view.agents.get(id)) return undefined;
  const refusal = pools.read(pool).refused.get(id);
  if (refusal) return ['the server refuses its agent:', refusal.message, refusal.remedy].filter(Boolean).join(' ');
  const listing = offer === undefined ? undefined : clouds.listing(offer);
  if (!listing) return 'its cloud has not been listed yet';
  const machine = listing.machines.get(name);
  if (machine) return machine.trouble?.message ?? STATES[machine.state];
  return createdAt === undefined
    ? 'its cloud has not agreed to the launch yet'
    : 'its machine was launched, and the last listing of its cloud does not show it yet';
}

/** Writes one event where it begins: a pool of a hundred pods has a hundred with the same trouble, each again and again. */
export function tellMachineTrouble(context: WorkersContext, pool: string): void {
  const { pools, journal, owned } = context;
  const found = machineTroubleOf(context, pool);
  const told = found && `${found.event} ${found.reason ?? found.kind}`;
  if (told === pools.read(pool).toldTrouble) return;
  pools.of(pool).toldTrouble = told;
  if (!found) return;
  const { event: kind, worker, message } = found;
  owned.base.commit([journal.event({ kind, subject: `worker/${worker}`, pool, message: sentence(message) })]);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/[^.!?…]$/, '$&.');

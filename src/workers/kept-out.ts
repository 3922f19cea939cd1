// Velda's protocol cannot stop an agent: after a drain it reconnects for ever. Where Muster does not delete its machine, its
// row stays and rejects it, until the agent is restarted or an operator releases the worker.
import type { Hello } from '#core/agent-link.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { type Change, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { WorkersContext } from './context.ts';
import { observeCalling } from './observation.ts';

// Velda's agent waits between calls: 0.5 s at first, half as long again after each refusal, up to 60 s, each ± 50 %. Only a
// stream that ended with OK starts that anew; a refusal does not.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const GROWTH = 1.5;
const LEAST_SHARE = 0.5;

// Longer than its longest wait together with the re-dial of its connection: its process has ended.
const FORGET_AFTER_MS = 15 * MINUTE_MS;

/** The least time after which a process that was refused so often calls again. */
export function leastWaitMs(refusals: number): number {
  return LEAST_SHARE * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * GROWTH ** (refusals - 1));
}

/** Whether a drain of this worker must keep its agent out by itself: nothing else ends it. */
export function mustKeepOut({ store: { view } }: WorkersContext, { id, offer, credential }: Worker): boolean {
  if (offer !== undefined) return false;
  const agent = view.agents.get(id);
  // Agents of Muster have a key, and obey a stop message.
  return agent ? agent.wire === 'velda' : credential === undefined;
}

/** When a drained worker that is kept out has been silent for so long that its row may go. */
export const forgetAtMs = (awaySinceMs: number): number => awaySinceMs + FORGET_AFTER_MS;

/** The calls of agents that are kept out: a process that was started again calls sooner than the one before could. */
export interface KeptOut {
  /** The worker as it may join now: without its drain, where its agent was started again. */
  called(worker: Worker, hello: Pick<Hello, 'executions'>): Worker;
}

export function openKeptOut(context: WorkersContext): KeptOut {
  const { store, clock } = context;
  const calls = new Map<string, { readonly refusals: number; readonly atMs: number }>();
  store.onChange('workers', (after, _before, id) => {
    if (!after?.drain?.isKept) calls.delete(id);
  });
  return {
    called(worker, { executions }) {
      const { id, drain } = worker;
      const hasWork = executions.length > 0 || store.view.sessions.count('worker', id) > 0;
      if (!drain?.isKept || worker.removal || hasWork) return worker;
      const last = calls.get(id);
      const nowMs = clock.monotonic();
      const isStartedAgain = last !== undefined && nowMs - last.atMs < leastWaitMs(last.refusals);
      if (isStartedAgain) return { ...worker, drain: undefined };
      calls.set(id, { refusals: (last?.refusals ?? 0) + 1, atMs: nowMs });
      observeCalling(context, worker);
      return worker;
    },
  };
}

export function releasedEvent({ journal }: WorkersContext, { id, pool }: Worker, why: string, actor?: Actor): Change {
  return journal.event(
    { kind: 'worker.released', subject: `worker/${id}`, pool, message: `Its drain is over: ${why}.` },
    actor,
  );
}

/** Lets a worker that is kept out join again, or take new sessions where it has not left yet. */
export async function releaseWorker(context: WorkersContext, name: string, actor: Actor): Promise<Worker> {
  const worker = context.store.view.workers.get(name);
  if (!worker) throw new Fault('missing', `There is no worker ${name}.`);
  if (!worker.drain) return worker;
  if (!worker.drain.isKept || worker.removal)
    throw new Fault('conflict', `The drain of worker ${name} cannot be undone.`, {
      remedy: 'Only the agents of Velda that joined by themselves can be released. Start another worker.',
    });
  const released: Worker = { ...worker, drain: undefined };
  await context.store.commit([
    put('workers', released),
    releasedEvent(context, worker, `${actor.who} released it`, actor),
  ]);
  return context.store.view.workers.get(name) ?? released;
}

import { freeSlots, phaseOf, sessionsOn } from '#core/pool-counts.ts';
import type { Store } from '#core/store.ts';
import { type Worker, workerPhase } from '#core/worker.ts';
import type { ApiDeps } from '../deps.ts';
import { toTime, toTimeIf } from '../wire/shared.ts';
import type * as wire from '../wire/worker.ts';

function shownAgent(store: Store, worker: Worker): wire.Worker['agent'] {
  const agent = store.view.agents.get(worker.id);
  if (!agent) return undefined;
  const sessions = sessionsOn(store, worker.id);
  const { slots, labels, wire: spoken, version, hostname, address } = agent;
  return {
    slots,
    free_slots: freeSlots(agent, workerPhase(worker, agent, sessions), sessions),
    labels,
    wire: spoken,
    version,
    hostname,
    address,
    connected_at: toTime(agent.connectedAt),
  };
}

type WorkerLooks = Pick<ApiDeps, 'store' | 'redactText'> & { readonly workers: Pick<ApiDeps['workers'], 'bootWait'> };

export function shownWorker(worker: Worker, { store, workers, redactText }: WorkerLooks): wire.Worker {
  const waits = workers.bootWait(worker);
  const { view } = store;
  const { drain, removal } = worker;
  const sessions = [...view.sessions.by('worker', worker.id)].map((session) => session.id);
  return {
    name: worker.id,
    pool: view.pools.get(worker.pool)?.name ?? worker.pool,
    phase: phaseOf(store, worker),
    machine: worker.machine,
    backend: worker.offer === undefined ? undefined : view.offers.get(worker.offer)?.kind,
    launch: worker.launch,
    asked_at: toTime(worker.askedAt),
    created_at: toTimeIf(worker.createdAt),
    joined_at: toTimeIf(worker.joinedAt),
    waits: waits && redactText(waits),
    drain: drain && { at: toTime(drain.at), why: drain.why, deadline_at: toTimeIf(drain.deadlineAt) },
    removal: removal && { at: toTime(removal.at), why: removal.why },
    agent: shownAgent(store, worker),
    sessions,
    unknown_sessions: view.agents.get(worker.id)?.unknown?.slice(),
  };
}

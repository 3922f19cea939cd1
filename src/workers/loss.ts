import type { Agent } from '#core/machine.ts';
import type { Change } from '#core/store.ts';
import { lookForLost as lookForMachine, lossOf } from '#machines/loss.ts';
import { removalOf } from '#machines/removal.ts';
import type { WorkersContext } from './context.ts';
import { bootGaveUp } from './launch-failures.ts';
import { observeDisconnected } from './observation.ts';
import type { Survey } from './survey.ts';

export function disconnectWorker(context: WorkersContext, agent: Agent): Change[] {
  const { clouds, journal, standingDown } = context;
  const { view } = context.store;
  const worker = view.workers.get(agent.id);
  if (!worker || standingDown.isOn) return [];
  const { id, pool, offer, removal, parked } = worker;
  observeDisconnected(context, worker, agent);
  if (offer !== undefined && !removal) clouds.refresh(offer);
  if (removal || parked) return [];
  const message = disconnected(view.sessions.count('worker', id));
  return [journal.event({ kind: 'worker.lost', subject: `worker/${id}`, pool, message })];
}

function disconnected(sessions: number): string {
  if (sessions === 0) return 'Agent disconnected.';
  return `Agent disconnected; ${sessions} ${sessions === 1 ? 'session is' : 'sessions are'} now \`unknown\`.`;
}

/** Durable: a server that starts anew must know another machine under the same name. Returns whether there were any. */
export function keepMachineIds({ owned }: WorkersContext, { identified }: Survey): boolean {
  if (identified.length === 0) return false;
  owned.base.commit(identified.map(({ worker, machineId }) => owned.put({ ...worker, machineId })));
  return true;
}

/** Drops workers whose machine is gone, and removes those whose machine failed; returns whether there were any. */
export function takeLosses(context: WorkersContext, { gone, broken }: Survey): boolean {
  if (gone.length + broken.length === 0) return false;
  const { owned } = context;
  const changes: Change[] = [];
  for (const worker of gone) {
    const fault = { kind: 'unavailable', message: 'its machine disappeared before its agent joined' } as const;
    if (worker.joinedAt === undefined) bootGaveUp(context, worker, fault);
    changes.push(...lossOf(owned, worker));
  }
  for (const { worker, trouble } of broken) {
    const { kind, message } = trouble;
    if (worker.joinedAt === undefined) bootGaveUp(context, worker, trouble);
    changes.push(...removalOf(owned, worker, `${kind}, ${message}`, { fault: { kind, message } }));
  }
  owned.base.commit(changes);
  return true;
}

/** Asks for fresh listings until two have started since a worker of the pool was last seen; each one wakes the pool. */
export function lookForLost({ store, owned }: WorkersContext, pool: string): void {
  for (const worker of store.view.workers.by('pool', pool)) {
    if (!store.view.agents.get(worker.id)) lookForMachine(owned, worker);
  }
}

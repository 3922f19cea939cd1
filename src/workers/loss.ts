import { type Change, drop } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { type Kit, lifetimeOf } from './kit.ts';
import { bootGaveUp } from './launch.ts';
import { removalOf } from './removal.ts';
import type { Survey } from './survey.ts';

/** The stream of that connection ended; an older one than the agent's newest changes nothing. */
export function leave(kit: Kit, name: string, epoch: number): void {
  const { view } = kit.store;
  const agent = view.agents.get(name);
  if (agent?.epoch !== epoch) return;
  const worker = view.workers.get(name);
  const changes: Change[] = [drop('agents', name)];
  if (kit.standingDown.isOn) return kit.commit(changes);
  if (worker) {
    const nowMs = kit.clock.monotonic();
    const sight = kit.sightOf(worker);
    sight.slots = agent.slots;
    sight.awaySinceMs = nowMs;
    sight.backByMs = nowMs + kit.times.returnGraceMs;
    // Until this moment it was here, whatever a listing said.
    sight.missedFromMs = Math.max(sight.missedFromMs === Number.POSITIVE_INFINITY ? nowMs : sight.missedFromMs, nowMs);
    if (worker.offer !== undefined && !worker.removal) kit.clouds.refresh(worker.offer);
  }
  if (worker && !worker.removal && !worker.parked) {
    const sessions = view.sessions.count('worker', name);
    const message = sessions > 0 ? `Its agent is away, with ${sessions} sessions.` : 'Its agent is away.';
    changes.push(kit.journal.event({ kind: 'worker.lost', subject: `worker/${name}`, pool: worker.pool, message }));
  }
  kit.commit(changes);
}

/** Drops what the cloud has no more, and removes what is of no use there; answers whether anything was. */
export function takeLosses(kit: Kit, { gone, broken }: Survey): boolean {
  if (gone.length + broken.length === 0) return false;
  const changes: Change[] = [];
  for (const worker of gone) changes.push(...goneFor(kit, worker));
  for (const { worker, trouble } of broken) {
    if (worker.joinedAt === undefined) bootGaveUp(kit, worker, trouble);
    changes.push(...removalOf(kit, worker, `${trouble.kind}, ${trouble.message}`));
  }
  kit.commit(changes);
  return true;
}

/** Its machine is gone: only now may its sessions start anew elsewhere. */
function goneFor(kit: Kit, worker: Worker): Change[] {
  const hasJoined = worker.joinedAt !== undefined;
  if (!hasJoined) bootGaveUp(kit, worker, { kind: 'unavailable', message: 'its machine vanished before it joined' });
  const lifetime = lifetimeOf(kit, worker);
  const event = kit.journal.event({
    kind: 'worker.gone',
    subject: `worker/${worker.id}`,
    pool: worker.pool,
    message: `Its machine is gone from the cloud${hasJoined ? '' : ', and it never joined'}.`,
    fields: { lifetime },
  });
  return [drop('workers', worker.id), event];
}

/** Asks for fresh listings until two have started since a worker of the pool was last seen; each one wakes the pool. */
export function lookForLost(kit: Kit, pool: string): void {
  const { view } = kit.store;
  for (const worker of view.workers.by('pool', pool)) {
    if (worker.joinedAt === undefined || worker.offer === undefined || worker.removal || worker.parked) continue;
    if (view.agents.get(worker.id)) continue;
    const before = kit.clouds.listing(worker.offer)?.before;
    if (!before || before.startedMs <= kit.sightOf(worker).missedFromMs) kit.clouds.refresh(worker.offer);
  }
}

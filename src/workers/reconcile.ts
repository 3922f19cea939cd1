import type { Again } from '#core/loop.ts';
import type { Pool } from '#core/pool.ts';
import { poolSubject } from '#core/reason.ts';
import type { Change } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { writeFacts } from '../autoscaler/inputs.ts';
import { type Action, type Plan, plan } from '../autoscaler/plan.ts';
import { bootFailed, forgiveFailures } from './boots.ts';
import { drainOf, drainPool, removeDrained } from './drain.ts';
import { factsOf } from './facts.ts';
import { guardAgainstMassLoss, isFrozen } from './freeze.ts';
import type { Kit } from './kit.ts';
import { askFor } from './launch.ts';
import { lookForLost, takeLosses } from './loss.ts';
import { keepParked, openLot, parkOf } from './parking.ts';
import { carryOutRemovals, removalOf } from './removal.ts';
import { settleLaunches } from './settle.ts';
import { type Survey, surveyPool } from './survey.ts';
import { deleteUnknown } from './unknown.ts';

/** Brings one pool's workers to what its definition, its sessions and its clouds ask for. Never waits. */
export function passOver(kit: Kit, id: string): Again | undefined {
  const pool = kit.store.view.pools.get(id);
  if (!pool && kit.store.view.workers.count('pool', id) === 0) return undefined;
  const memory = kit.memoryOf(id);
  memory.passedMs = kit.clock.monotonic();
  if (pool && pool.revision !== memory.revision) {
    if (memory.revision !== undefined) forgiveFailures(kit, id);
    memory.revision = pool.revision;
  }
  const survey = surveyPool(kit, id, pool);
  // Whoever stops the server ends the connections of all agents himself.
  const guardAtMs = kit.standingDown.isOn ? Number.POSITIVE_INFINITY : guardAgainstMassLoss(kit, id, survey);
  reportGhosts(kit, survey);
  const isHeld = isFrozen(kit, id) || pool?.pausedAt !== undefined;
  const now = isHeld ? survey : act(kit, pool, { id, survey });
  if (now.waitsForListing || kit.store.view.launches.count('pool', id) > 0) kit.waiting.add(id);
  else kit.waiting.delete(id);
  const isDecided = pool === undefined || kit.standingDown.isOn;
  const againAtMs = Math.min(guardAtMs, now.againAtMs, isDecided ? Number.POSITIVE_INFINITY : decide(kit, pool, now));
  if (againAtMs === Number.POSITIVE_INFINITY) return undefined;
  // Rounded up: an alarm a hair too early would only be set again.
  return { afterMs: Math.max(0, Math.ceil(againAtMs - kit.clock.monotonic())) };
}

/** Does what is due whatever the plan says; answers how things stand then. */
function act(kit: Kit, pool: Pool | undefined, { id, survey }: { id: string; survey: Survey }): Survey {
  const isChanged = [drainPool(kit, id, pool), takeLosses(kit, survey), removeDrained(kit, survey)].includes(true);
  const then = isChanged ? surveyPool(kit, id, pool) : survey;
  const changes = kit.workersChanged();
  const againAtMs = Math.min(
    carryOutRemovals(kit, id, then.removing),
    settleLaunches(kit, id),
    keepParked(kit, pool, then),
  );
  if (then.waitsForListing) lookForLost(kit, id);
  const now = kit.workersChanged() === changes ? then : surveyPool(kit, id, pool);
  return againAtMs < now.againAtMs ? { ...now, againAtMs } : now;
}

/** What the plan for a pool would be now. */
export function planFor(kit: Kit, pool: Pool): Plan {
  return plan(factsOf(kit, pool, surveyPool(kit, pool.id, pool)));
}

/** Plans, writes down why, and commits what follows, all in one turn; answers when to look again. */
function decide(kit: Kit, pool: Pool, survey: Survey): number {
  let facts = factsOf(kit, pool, survey);
  let decision = plan(facts);
  // Machines that did not join may stop the launching of more: then that is the plan.
  if (countFailedBoots(kit, pool.id, decision)) {
    facts = factsOf(kit, pool, survey);
    decision = plan(facts);
  }
  const memory = kit.memoryOf(pool.id);
  memory.surplusSinceMs = decision.surplusSinceMs;
  const { actions, did, reason, also, why, unless, alternatives, figures } = decision;
  const inputs = (redactText: (text: string) => string): string => writeFacts(facts, redactText);
  const recorded = kit.journal.decision(
    { subject: poolSubject(pool.id), did, reason, also, why, unless, alternatives, facts: figures },
    actions.length > 0,
    inputs,
  );
  const changes: Change[] = recorded ? [recorded] : [];
  const mayPark = openLot(kit, pool);
  for (const action of actions) {
    if (action.do === 'launch') changes.push(...askFor(kit, pool, action));
    else if (action.do === 'drain') changes.push(...drain(kit, action));
    else changes.push(...remove(kit, action, { pool: pool.id, mayPark }));
  }
  if (changes.length > 0) kit.commit(changes, () => tellDraining(kit, decision));
  if (!memory.isReady) kit.waiting.add(pool.id);
  const { initialDelayMs = Number.POSITIVE_INFINITY } = pool.spec.scaling;
  const readyAtMs = memory.isReady ? Number.POSITIVE_INFINITY : memory.firstMs + initialDelayMs;
  return Math.min(readyAtMs, kit.clock.monotonic() + (decision.againAfterMs ?? Number.POSITIVE_INFINITY));
}

/** Answers whether the guard against machines that never join has just stopped all launching. */
function countFailedBoots(kit: Kit, pool: string, { actions }: Plan): boolean {
  const { view } = kit.store;
  const memory = kit.memoryOf(pool);
  const beforeMs = memory.runawayUntilMs;
  for (const action of actions) {
    const worker = action.do === 'remove' && action.isOverdue ? view.workers.get(action.worker) : undefined;
    if (worker && worker.joinedAt === undefined) bootFailed(kit, pool);
  }
  return memory.runawayUntilMs !== beforeMs;
}

function drain(kit: Kit, action: { worker: string; why: string }): Change[] {
  const worker = kit.store.view.workers.get(action.worker);
  return worker && !worker.drain && !worker.removal ? drainOf(kit, worker, action.why) : [];
}

/** Placement reads the drain from the row; the agent need only know it before it would offer its slots elsewhere. */
function tellDraining({ link }: Kit, { actions }: Plan): void {
  for (const action of actions) if (action.do === 'drain') link.send(action.worker, { do: 'drain', stop: false });
}

function remove(
  kit: Kit,
  action: Extract<Action, { do: 'remove' }>,
  { pool, mayPark }: { pool: string; mayPark: (worker: Worker) => boolean },
): Change[] {
  const { view } = kit.store;
  const worker = view.workers.get(action.worker);
  if (!worker) {
    deleteUnknown(kit, pool, action.worker);
    return [];
  }
  // The plan has seen it; this is the last look in the same turn, and costs nothing.
  if (worker.removal || view.sessions.count('worker', worker.id) > 0) return [];
  return !action.isOverdue && mayPark(worker) ? parkOf(kit, worker, action.why) : removalOf(kit, worker, action.why);
}

function reportGhosts(kit: Kit, { ghosts }: Survey): void {
  for (const worker of ghosts) {
    const sight = kit.sightOf(worker);
    if (sight.isKnownGhost) continue;
    sight.isKnownGhost = true;
    kit.log('warn', 'agent connected, machine not listed', {
      pool: worker.pool,
      worker: worker.id,
      ghosts: ghosts.length,
    });
  }
}

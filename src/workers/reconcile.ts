// One pass over a pool: survey, keep observations, carry out what is due, plan, and commit the plan.
import type { BootSettings } from '#core/feature.ts';
import type { Again } from '#core/loop.ts';
import type { Pool } from '#core/pool.ts';
import { sessionsOn } from '#core/pool-counts.ts';
import { poolSubject } from '#core/reason.ts';
import type { Change } from '#core/store.ts';
import { isFrozen, type Worker } from '#core/worker.ts';
import { askFor } from '#machines/launch.ts';
import { keepParked, parkingSpaces, parkOf, wake } from '#machines/parking.ts';
import { carryOutRemovals, removalOf } from '#machines/removal.ts';
import { resolveLaunches } from '#machines/resolve-launches.ts';
import { deleteUnknown } from '#machines/unknown.ts';
import { writeFacts } from '../autoscaler/inputs.ts';
import { type Action, type Plan, plan } from '../autoscaler/plan.ts';
import type { PoolReason } from '../autoscaler/reasons.ts';
import type { WorkersContext } from './context.ts';
import { drainOf, drainPool, drainReclaimed, removeDrained, sendAwayDrained } from './drain.ts';
import { factsOf } from './facts.ts';
import { guardAgainstMassLoss, isPoolHeld } from './freeze.ts';
import { bootFailed, forgiveFailures } from './launch-failures.ts';
import { limitsChangeAfterMs } from './limits.ts';
import { keepMachineIds, lookForLost, takeLosses } from './loss.ts';
import { observeSurvey } from './observation.ts';
import { learnReadyTimes } from './ready-time.ts';
import { observeDefinedSlots } from './reported-slots.ts';
import { type Survey, surveyPool } from './survey.ts';

/** Brings one pool's workers to its wanted state. Never waits. */
export function reconcilePool(context: WorkersContext, boot: BootSettings, id: string): Again | undefined {
  const { store, clock, pools, standingDown } = context;
  const pool = store.view.pools.get(id);
  if (!pool && store.view.workers.count('pool', id) === 0) return undefined;
  const memory = pools.of(id);
  memory.passedMs = clock.monotonic();
  if (pool && pool.revision !== memory.revision) {
    if (memory.revision !== undefined) forgiveFailures(context, id);
    memory.revision = pool.revision;
    observeDefinedSlots(context, pool, memory);
  }
  if (pool) learnReadyTimes(context, pool);
  const survey = lookAgain(context, id, pool);
  // During shutdown we close agent connections ourselves; that is no mass loss.
  const guardAtMs = standingDown.isOn ? Number.POSITIVE_INFINITY : guardAgainstMassLoss(context, id);
  logUnlisted(context, survey);
  const known = keepMachineIds(context, survey) ? lookAgain(context, id, pool) : survey;
  const now = isPoolHeld(store, id) ? known : act(context, pool, { id, survey: known });
  waitForListing(context, id, now);
  const isDecided = pool === undefined || standingDown.isOn;
  const decidedAtMs = isDecided ? Number.POSITIVE_INFINITY : decide(context, boot, { pool, survey: now });
  const againAtMs = Math.min(guardAtMs, now.againAtMs, decidedAtMs);
  memory.passTookMs = clock.monotonic() - memory.passedMs;
  if (againAtMs === Number.POSITIVE_INFINITY) return undefined;
  // Rounded up: an alarm a hair too early would only be set again.
  return { afterMs: Math.max(0, Math.ceil(againAtMs - clock.monotonic())) };
}

function waitForListing({ store, owned }: WorkersContext, id: string, { waitsForListing, underWay }: Survey): void {
  if (waitsForListing || store.view.launches.count('owner', id) > 0) owned.waiting.add(id);
  else if (underWay.length > 0) owned.waiting.add(id, underWay);
  else owned.waiting.delete(id);
}

function lookAgain(context: WorkersContext, id: string, pool: Pool | undefined): Survey {
  const survey = surveyPool(context, id, pool);
  observeSurvey(context, id, survey);
  return survey;
}

/** Carries out what is due regardless of the plan; returns the survey after that. */
function act(context: WorkersContext, pool: Pool | undefined, { id, survey }: { id: string; survey: Survey }): Survey {
  const { owned } = context;
  const isDraining = drainPool(context, id, pool) || drainReclaimed(context, survey);
  const isLosing = takeLosses(context, survey);
  const isRemoving = removeDrained(context, survey);
  sendAwayDrained(context, survey);
  const then = isDraining || isLosing || isRemoving ? lookAgain(context, id, pool) : survey;
  const changes = context.workersChanged();
  const againAtMs = Math.min(removeAll(context, id, then), resolveLaunches(owned, id), keepParked(owned, id, then));
  if (then.waitsForListing) lookForLost(context, id);
  const now = context.workersChanged() === changes ? then : lookAgain(context, id, pool);
  return againAtMs < now.againAtMs ? { ...now, againAtMs } : now;
}

function removeAll(context: WorkersContext, id: string, survey: Survey): number {
  return unwoken(context, id, () => carryOutRemovals(context.owned, survey.removing));
}

/** Changes that this pass goes on with by itself. */
function unwoken<T>({ acting }: WorkersContext, id: string, change: () => T): T {
  acting.pool = id;
  try {
    return change();
  } finally {
    acting.pool = undefined;
  }
}

const HELD_BY_BUDGET: ReadonlySet<string> = new Set([
  'budget-hour',
  'budget-month',
  'budget-spent',
] satisfies PoolReason[]);

/** Plans, records the decision, and commits the actions, all in one turn; returns when to look again. */
function decide(context: WorkersContext, boot: BootSettings, { pool, survey }: { pool: Pool; survey: Survey }): number {
  const { owned, clock, journal, pools } = context;
  const memory = pools.of(pool.id);
  let facts = factsOf(context, pool, { survey, memory });
  let decision = plan(facts);
  // Boot failures may suspend launching: then plan again.
  if (countFailedBoots(context, pool.id, decision)) {
    facts = factsOf(context, pool, { survey, memory });
    decision = plan(facts);
  }
  memory.isReady = facts.isReady;
  memory.surplusSinceMs = decision.surplusSinceMs;
  memory.isHeldByBudget = [decision.reason, ...decision.also].some(({ code }) => HELD_BY_BUDGET.has(code));
  memory.need = facts.isReady ? decision.need : undefined;
  const { actions, did, reason, also, why, unless, alternatives, figures } = decision;
  const inputs = (redactText: (text: string) => string): string => writeFacts(facts, redactText);
  memory.subject ??= poolSubject(pool.id);
  const made = { subject: memory.subject, did, reason, also, why, unless, alternatives, facts: figures };
  const isWait = reason.code === 'not-listed' && journal.noteWait(made);
  const recorded = isWait ? undefined : journal.decision(made, actions.length > 0, inputs);
  const changes: Change[] = recorded ? [recorded] : [];
  if (actions.length > 0) changes.push(...carryOut(context, boot, { pool, actions }));
  const commit = (): void => owned.base.commit(changes, () => announceDrains(context, decision));
  // Woken machines are the business of the next pass.
  const isLaunch = survey.parked.length === 0 && isLaunchAlone(actions);
  if (isLaunch) launchNow(context, pool.id, commit);
  else if (changes.length > 0) commit();
  if (!memory.isReady) owned.waiting.add(pool.id);
  const { initialDelayMs = Number.POSITIVE_INFINITY, bootTimeoutMs } = pool.spec.scaling;
  const readyAtMs = memory.isReady ? Number.POSITIVE_INFINITY : memory.firstMs + initialDelayMs;
  const changeMs = limitsChangeAfterMs(context, pool, memory);
  const bootedMs = isLaunch ? bootTimeoutMs : Number.POSITIVE_INFINITY;
  const againMs = decision.againAfterMs ?? Number.POSITIVE_INFINITY;
  return Math.min(readyAtMs, clock.monotonic() + Math.min(bootedMs, changeMs, againMs));
}

const isLaunchAlone = (actions: readonly Action[]): boolean =>
  actions.length > 0 && actions.every((action) => action.do === 'launch');

/** Commits launches and calls for them in the same pass: the next listing is the first to bring news. */
function launchNow(context: WorkersContext, id: string, commit: () => void): void {
  const { store, owned } = context;
  unwoken(context, id, commit);
  // A listener of the store may have frozen the pool.
  if (!isFrozen(store, id)) resolveLaunches(owned, id);
  owned.waiting.add(id);
}

function carryOut(
  context: WorkersContext,
  boot: BootSettings,
  { pool, actions }: { pool: Pool; actions: readonly Action[] },
): Change[] {
  const mayPark = parkingSpaces(context.owned, pool.id);
  return actions.flatMap((action) => {
    if (action.do === 'launch') return launch(context, boot, { pool, action });
    return action.do === 'drain' ? drain(context, action) : remove(context, action, { pool, mayPark });
  });
}

/** Returns whether the boot-failure guard has just suspended launching. */
function countFailedBoots(context: WorkersContext, pool: string, { actions }: Plan): boolean {
  if (actions.length === 0) return false;
  const { view } = context.store;
  const memory = context.pools.of(pool);
  const beforeMs = memory.runawayUntilMs;
  for (const action of actions) {
    const worker = action.do === 'remove' && action.isOverdue ? view.workers.get(action.worker) : undefined;
    if (worker && worker.joinedAt === undefined) bootFailed(context, pool);
  }
  return memory.runawayUntilMs !== beforeMs;
}

/** Wakes parked machines first; launches the rest. */
function launch(
  { owned, journal }: WorkersContext,
  boot: BootSettings,
  { pool, action }: { pool: Pool; action: Extract<Action, { do: 'launch' }> },
): Change[] {
  const offer = pool.spec.offers.find(({ id }) => id === action.offer);
  if (!offer) return [];
  const { count, why } = action;
  const woken = wake(owned, pool.id, { offer: offer.id, count, why });
  const left = count - woken.count;
  if (left === 0) return woken.changes;
  const launches = askFor(owned, {
    owner: pool,
    offer,
    count: left,
    agentConfig: boot.agentConfig({ name: pool.name, slots: pool.spec.scaling.slotsPerAgent }),
    install: boot.install(),
    event: ({ id, names }) =>
      journal.event({
        kind: 'worker.asked',
        subject: `launch/${id}`,
        pool: pool.id,
        message: `Launching ${names.length} for pool ${pool.name}: ${why}.`,
        fields: { names, offer: offer.id },
      }),
  });
  return [...woken.changes, ...launches];
}

function drain(context: WorkersContext, action: { worker: string; why: string }): Change[] {
  const worker = context.store.view.workers.get(action.worker);
  return worker && !worker.drain && !worker.removal ? drainOf(context, worker, action.why) : [];
}

/** Placement reads the drain from the row; the agent need only know it before it would offer its slots elsewhere. */
function announceDrains({ link }: WorkersContext, { actions }: Plan): void {
  for (const action of actions) if (action.do === 'drain') link.send(action.worker, { do: 'drain', stop: false });
}

function remove(
  { store, owned }: WorkersContext,
  action: Extract<Action, { do: 'remove' }>,
  { pool, mayPark }: { pool: Pool; mayPark: (worker: Worker) => boolean },
): Change[] {
  const { view } = store;
  const worker = view.workers.get(action.worker);
  if (!worker) {
    deleteUnknown(owned, pool.id, { name: action.worker, offers: pool.spec.offers });
    return [];
  }
  // The plan has seen it; this is the last look in the same turn, and costs nothing.
  if (worker.removal || sessionsOn(store, worker.id) > 0) return [];
  const isParked = !action.isOverdue && mayPark(worker);
  if (isParked) return parkOf(owned, worker, action.why);
  const isFailed = action.isOverdue && worker.joinedAt === undefined;
  return removalOf(owned, worker, action.why, isFailed ? { fault: { kind: 'unavailable', message: action.why } } : {});
}

function logUnlisted({ owned, log }: WorkersContext, { unlisted }: Survey): void {
  for (const worker of unlisted) {
    if (owned.observations.of(worker).isUnlistedLogged) continue;
    owned.observations.observe(worker, { isUnlistedLogged: true });
    const about = { pool: worker.pool, worker: worker.id, unlisted: unlisted.length };
    log('warn', 'agent is connected, but its machine is not listed', about);
  }
}

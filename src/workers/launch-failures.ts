// Effects of failed launches and boot failures on a pool: back-off of its offers, and a guard that suspends launching.
import { isUnclear } from '#core/fault.ts';
import type { Pool } from '#core/pool.ts';
import type { PoolTrouble } from '#core/source.ts';
import type { Worker } from '#core/worker.ts';
import { countedPriceOf } from '#machines/counted-price.ts';
import type { Failure } from '#machines/owned-machines.ts';
import type { Facts, OfferFact } from '../autoscaler/plan.ts';
import type { WorkersContext } from './context.ts';
import { machineTroubleOf } from './machine-troubles.ts';
import type { PoolMemory } from './pool-memory.ts';
import { countedAs, priceOf } from './pool-offers.ts';

const BOOTS_BEFORE_GUARD = 3;

const causeOf = ({ kind, message }: Failure): string => `${kind}: ${message}`.replace(/\s+/g, ' ').trim();

/** Cause and remedy in one line. */
function lineOf(failure: Failure): string {
  const cause = causeOf(failure);
  const { remedy = '' } = failure;
  const isSentence = /[.!?…]$/.test(cause);
  return remedy === '' ? cause : `${cause}${isSentence ? '' : '.'} ${remedy}`;
}

const FIRST_UNANSWERED_WAIT_MS = 1_000;

interface FailedLaunch {
  readonly offer: string;
  readonly fault: Failure;
}

/** How long nothing is launched from an offer that refused or failed. */
function coolDownMs({ spec }: Pool, { retryAfterMs = 0 }: Failure): number {
  const { retryDelayMs, errorResetAfterMs } = spec.scaling;
  return Math.max(Math.min(retryDelayMs, errorResetAfterMs), retryAfterMs);
}

/** Nothing is launched from that offer for a while. */
function coolDown({ clock, pools }: WorkersContext, pool: Pool, { offer, fault }: FailedLaunch, unanswered = 0): void {
  const fullMs = coolDownMs(pool, fault);
  // From 20 on the full one is reached, whatever it is.
  const briefMs = FIRST_UNANSWERED_WAIT_MS * 2 ** Math.min(unanswered - 1, 20);
  const waitMs = unanswered > 0 ? Math.max(Math.min(briefMs, fullMs), fault.retryAfterMs ?? 0) : fullMs;
  const untilMs = clock.monotonic() + waitMs;
  const { cooling } = pools.of(pool.id);
  const { kind, remedy } = fault;
  const said = { fault: kind, why: lineOf(fault), cause: causeOf(fault), remedy };
  cooling.set(offer, { untilMs, ...said, at: clock.now(), unanswered });
}

/**
 * A launch failed. One that its cloud never answered was not refused: the server was restarted in the middle of it, or the
 * API was away. The offer is tried again soon, and less often each time, up to the full cool-down.
 */
export function launchFailed(context: WorkersContext, pool: Pool, failed: FailedLaunch): void {
  const before = context.pools.read(pool.id).cooling.get(failed.offer)?.unanswered ?? 0;
  coolDown(context, pool, failed, isUnclear(failed.fault.kind) ? before + 1 : 0);
}

/** The cloud answers again: what it did not answer before no longer counts. A refusal counts until an agent joins. */
export function launchAgreed({ pools }: WorkersContext, pool: string, offer: string): void {
  const { cooling } = pools.read(pool);
  if ((cooling.get(offer)?.unanswered ?? 0) > 0) cooling.delete(offer);
}

/** The offers of a pool with their terms, and until when each of them cools down. */
export function offerFacts(
  { store, clouds }: Pick<WorkersContext, 'store' | 'clouds'>,
  pool: Pool,
  { memory: { cooling }, isBudgeted }: { readonly memory: Readonly<PoolMemory>; readonly isBudgeted: boolean },
): OfferFact[] {
  const { spec } = pool;
  return spec.offers.map((offer) => {
    const cool = cooling.get(offer.id);
    const terms = spec.terms?.[offer.id];
    const pricePerHour = priceOf({ clouds }, spec, offer.id);
    return {
      id: offer.id,
      pricePerHour,
      ...(isBudgeted && countedAs(countedPriceOf({ store, clouds }, pool, offer), pricePerHour)),
      maxAgents: terms?.maxAgents,
      coolingUntilMs: cool?.untilMs,
      coolingFault: cool?.fault,
      coolingWhy: cool?.why,
    };
  });
}

/** The newest launch failure of a pool, until an agent joins or the pool is changed. */
export function launchFaultOf(
  { pools }: WorkersContext,
  pool: string,
): (Pick<PoolTrouble, 'kind' | 'message' | 'cause' | 'remedy'> & { readonly at: number }) | undefined {
  const { cooling } = pools.read(pool);
  // Of most pools.
  if (cooling.size === 0) return undefined;
  const failures = [...cooling.values()];
  const newest = failures.toSorted((a, b) => b.at - a.at)[0];
  if (!newest) return undefined;
  const { fault, why, cause, remedy, at } = newest;
  return { kind: fault, message: why, cause, remedy, at };
}

/** Why the clouds of a pool cannot be asked, where none of them can. */
export function cloudFaultOf(context: WorkersContext, pool: Pool): Facts['cloudFault'] {
  const fault = unlistedOf(context, pool);
  return fault && { kind: fault.kind, message: lineOf(fault) };
}

function unlistedOf({ clouds }: WorkersContext, { spec }: Pool): Failure | undefined {
  let first: Failure | undefined;
  for (const { id } of spec.offers) {
    const fault = clouds.fault(id);
    if (!fault) return undefined;
    first ??= fault;
  }
  return first;
}

/** Why a pool gets no machines now. A cloud that cannot be asked now hides why an earlier launch failed. */
export function launchTroubleOf(context: WorkersContext, id: string): PoolTrouble | undefined {
  const pool = context.store.view.pools.get(id);
  if (!pool) return undefined;
  const unlisted = unlistedOf(context, pool);
  if (unlisted) {
    const { kind, remedy } = unlisted;
    return { kind, message: lineOf(unlisted), cause: causeOf(unlisted), remedy, reason: 'ListFailed' };
  }
  const refused = launchFaultOf(context, id);
  if (refused) {
    const { kind, message, cause, remedy } = refused;
    return { kind, message, cause, remedy, reason: 'LaunchFailed' };
  }
  const machine = machineTroubleOf(context, id);
  if (!machine) return undefined;
  const { kind, reason, message, cause, remedy } = machine;
  return { kind, reason, message, cause, remedy };
}

export const isSameTrouble = (one: PoolTrouble | undefined, other: PoolTrouble | undefined): boolean =>
  one?.kind === other?.kind && one?.reason === other?.reason && one?.message === other?.message;

/** The cloud agreed and had no room after all: its offer cools down like after a refusal, and nothing booted in vain. */
const isRefusedLate = ({ kind }: Failure): boolean => kind === 'exhausted' || kind === 'quota';

/** A machine that was created and will not join. */
export function bootGaveUp(context: WorkersContext, worker: Worker, fault: Failure): void {
  const pool = context.store.view.pools.get(worker.pool);
  if (!isRefusedLate(fault)) bootFailed(context, worker.pool);
  if (pool && worker.offer !== undefined)
    coolDown(context, pool, { offer: worker.offer, fault: { ...fault, retryAfterMs: undefined } });
}

/** A machine never joined; after some in a row launching is suspended, for longer each time. */
export function bootFailed({ pools, clock, times, log }: WorkersContext, pool: string): void {
  const memory = pools.of(pool);
  memory.failedBoots += 1;
  const nowMs = clock.monotonic();
  if (memory.failedBoots < BOOTS_BEFORE_GUARD || memory.runawayUntilMs > nowMs) return;
  const { runawayMs, longestRunawayMs } = times;
  const waitMs = Math.min(longestRunawayMs, runawayMs * 2 ** Math.min(memory.runawayRounds, 20));
  memory.runawayUntilMs = nowMs + waitMs;
  memory.runawayRounds += 1;
  log('warn', 'boot failures: launching suspended', { pool, failures: memory.failedBoots, waitMs });
}

/** An agent joined, or the pool was changed: earlier failures no longer count. */
export function forgiveFailures({ pools }: WorkersContext, pool: string): void {
  const memory = pools.of(pool);
  memory.cooling.clear();
  memory.failedBoots = 0;
  memory.runawayRounds = 0;
  memory.runawayUntilMs = Number.NEGATIVE_INFINITY;
}

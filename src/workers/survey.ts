import { isGone, type Listing } from '#clouds/listing.ts';
import type { Agent } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import { sessionsWith } from '#core/pool-counts.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import { type Worker, workerPhase } from '#core/worker.ts';
import { isLost, troubleOf } from '#machines/loss.ts';
import { afterListing } from '#machines/observation.ts';
import { isUnderWay } from '#machines/waiting.ts';
import type { WorkerFact } from '../autoscaler/plan.ts';
import type { WorkersContext } from './context.ts';
import { forgetAtMs } from './kept-out.ts';
import { afterLook, type WorkerObservation } from './observation.ts';
import { isOfOtherForm } from './pool-offers.ts';
import { scalingOf } from './reported-slots.ts';
import { hasOffer, offerNow } from './same-shape.ts';

/** A survey of all workers of a pool: the inputs of the plan, and what is due regardless of the plan. */
export interface Survey {
  readonly workers: WorkerFact[];
  /** No longer in the cloud, and without an agent. */
  readonly gone: Worker[];
  /** Still in the cloud, but failed. */
  readonly broken: { readonly worker: Worker; readonly trouble: Trouble }[];
  /** Its cloud has announced that it takes the machine away, and when. */
  readonly reclaimed: { readonly worker: Worker; readonly endsAt: number }[];
  /** Draining, and free of sessions or past the deadline. */
  readonly drained: Worker[];
  /** Drained and still connected, though kept out from now on. */
  readonly keptOut: Worker[];
  readonly removing: Worker[];
  readonly parked: Worker[];
  /** Woken, and not here yet. */
  readonly waking: Worker[];
  /** Connected, and shown by its cloud with an id for the first time. */
  readonly identified: { readonly worker: Worker; readonly machineId: string }[];
  /** Connected, and not in the cloud's listing. */
  readonly unlisted: Worker[];
  /** Away or no longer listed, and since when. */
  lost: ReadonlyMap<string, number>;
  /** How many were here, those that are lost now included. */
  here: number;
  /** Every listing may change something. */
  waitsForListing: boolean;
  /** Launched and without an agent yet, or being deleted, and shown by their cloud: of these only another state is news. */
  readonly underWay: Worker[];
  againAtMs: number;
  /** What is to be remembered of this look: only where it differs from what was. */
  readonly seen: { readonly worker: Worker; readonly observation: WorkerObservation }[];
}

const NONE_LOST: Survey['lost'] = new Map();

interface Look {
  readonly context: WorkersContext;
  readonly survey: Survey;
  readonly nowMs: number;
  readonly slotsPerAgent: number;
  readonly bootTimeoutMs: number;
  readonly pool: Pool | undefined;
  /** Most workers of a pool share one offer: what holds for it is looked up once. */
  ofOffer: OfOffer;
}

/** What holds for all workers of an offer. */
interface OfOffer {
  readonly offer: string | undefined;
  readonly listing: Listing | undefined;
  /** The offer that its workers count for. */
  readonly now: string | undefined;
  readonly isDefined: boolean;
  readonly reusesNames: boolean;
}

const NO_OFFER: OfOffer = { offer: undefined, listing: undefined, now: undefined, isDefined: true, reusesNames: false };

function ofOffer(look: Look, offer: string | undefined): OfOffer {
  if (look.ofOffer.offer === offer) return look.ofOffer;
  if (offer === undefined) return NO_OFFER;
  const { context, pool } = look;
  const now = offerNow(context.owned.base, pool?.spec, offer) ?? offer;
  const isDefined = pool !== undefined && hasOffer(pool.spec, now);
  const reusesNames = context.clouds.reusesNames(offer);
  look.ofOffer = { offer, listing: context.clouds.listing(offer), now, isDefined, reusesNames };
  return look.ofOffer;
}

interface Seen {
  readonly worker: Worker;
  readonly observation: WorkerObservation;
  readonly agent: Agent | undefined;
  readonly sessions: number;
  readonly listing: Listing | undefined;
  readonly machine: Machine | undefined;
}

/** Looks at every worker of a pool, and changes nothing; a pool that is gone is read as one slot an agent. */
export function surveyPool(context: WorkersContext, id: string, pool: Pool | undefined): Survey {
  const survey: Survey = {
    workers: [],
    gone: [],
    broken: [],
    reclaimed: [],
    drained: [],
    keptOut: [],
    removing: [],
    parked: [],
    waking: [],
    identified: [],
    unlisted: [],
    lost: NONE_LOST,
    here: 0,
    waitsForListing: false,
    underWay: [],
    againAtMs: Number.POSITIVE_INFINITY,
    seen: [],
  };
  const look: Look = {
    context,
    survey,
    nowMs: context.clock.monotonic(),
    slotsPerAgent: pool ? scalingOf(pool, context.pools.read(id)).slotsPerAgent : 1,
    bootTimeoutMs: pool?.spec.scaling.bootTimeoutMs ?? 0,
    pool,
    ofOffer: NO_OFFER,
  };
  for (const worker of context.store.view.workers.by('pool', id)) takeIn(look, lookAt(look, worker));
  return survey;
}

function lookAt(look: Look, worker: Worker): Seen {
  const { context, survey, nowMs } = look;
  const { owned, store } = context;
  const { listing } = ofOffer(look, worker.offer);
  const machine = listing?.machines.get(worker.machine);
  const agent = store.view.agents.get(worker.id);
  const sessions = sessionsWith(store, worker.id, agent);
  const kept = owned.observations.kept(worker.id);
  const before = kept ?? owned.observations.of(worker);
  const listed = afterListing(owned.base, before, worker, { listing, machine, nowMs });
  const observation = afterLook(listed, { agent, sessions, machine, nowMs });
  if (observation !== kept) survey.seen.push({ worker, observation });
  return { worker, observation, agent, sessions, listing, machine };
}

function takeIn(look: Look, seen: Seen): void {
  const { survey } = look;
  const { worker, agent } = seen;
  noteUnlisted(look, seen);
  noteIdentity(look, seen);
  countLoss(look, seen);
  if (isBooting(seen) || isBeingDeleted(seen)) survey.underWay.push(worker);
  else if ((!agent || worker.removal) && !isStoppedAsParked(seen)) survey.waitsForListing = true;
  // What its cloud failed to make counts for nothing, though its row stays until nothing can be left of it.
  if (!worker.removal?.isNotMade) survey.workers.push(factOf(look, seen));
  if (worker.parked) survey.parked.push(worker);
  else if (worker.isWaking) survey.waking.push(worker);
  if (worker.removal) survey.removing.push(worker);
  else if (isGoneFor(look, seen)) survey.gone.push(worker);
  else if (!noteBroken(look, seen)) {
    noteReclaimed(look, seen);
    noteDrain(look, seen);
  }
}

/** A drain with an earlier deadline stays. */
function noteReclaimed({ survey }: Look, { worker, machine }: Seen): void {
  const { endsAt } = machine ?? {};
  if (endsAt === undefined || worker.parked || worker.drain?.isTaken) return;
  if ((worker.drain?.deadlineAt ?? Number.POSITIVE_INFINITY) > endsAt) survey.reclaimed.push({ worker, endsAt });
}

const isBooting = ({ worker, agent, machine }: Seen): boolean =>
  !agent && worker.joinedAt === undefined && !worker.removal && !worker.isWaking && isUnderWay(machine);

const isBeingDeleted = ({ worker, machine }: Seen): boolean => worker.removal !== undefined && machine !== undefined;

/** Parked, and its cloud shows it so: nothing is awaited of it. */
const isStoppedAsParked = ({ worker, machine }: Seen): boolean =>
  worker.parked !== undefined && machine?.state === 'suspended';

/** It may have joined before a listing showed it: only its id tells it from another under the same name later. */
function noteIdentity(look: Look, { worker, agent, machine }: Seen): void {
  if (!agent || worker.machineId !== undefined || worker.removal || !ofOffer(look, worker.offer).reusesNames) return;
  if (!machine) look.survey.waitsForListing = true;
  else if (machine.id !== undefined) look.survey.identified.push({ worker, machineId: machine.id });
}

function noteUnlisted({ survey }: Look, { worker, observation, agent, listing, machine }: Seen): void {
  if (machine || worker.removal || observation.unlistedSinceMs === undefined) return;
  if (agent && isGone(listing, worker.machine, observation.missedFromMs)) survey.unlisted.push(worker);
  else survey.waitsForListing = true;
}

function countLoss({ survey, nowMs }: Look, { worker, observation, agent, sessions }: Seen): void {
  // One that came by itself to a manual pool may go as it likes while it has no work.
  const isFree = worker.offer === undefined && sessions === 0;
  const isHere = !isFree && (worker.joinedAt !== undefined || observation.hasBeenListed);
  if (!isHere || worker.removal || worker.parked || worker.drain?.isTaken) return;
  survey.here += 1;
  const { awaySinceMs = nowMs, unlistedSinceMs = Number.POSITIVE_INFINITY } = observation;
  const isAway = !agent && worker.joinedAt !== undefined && awaySinceMs <= nowMs;
  const sinceMs = Math.min(isAway ? awaySinceMs : Number.POSITIVE_INFINITY, unlistedSinceMs);
  if (sinceMs === Number.POSITIVE_INFINITY) return;
  // Most looks find none, and share one empty map.
  if (survey.lost === NONE_LOST) survey.lost = new Map([[worker.id, sinceMs]]);
  else (survey.lost as Map<string, number>).set(worker.id, sinceMs);
}

function isGoneFor({ nowMs }: Look, { worker, observation, agent, listing }: Seen): boolean {
  const isExpected = worker.joinedAt !== undefined && nowMs < (observation.awaySinceMs ?? nowMs);
  return !agent && !isExpected && isLost(worker, observation, listing);
}

function noteBroken(look: Look, seen: Seen): boolean {
  const { worker, agent, machine } = seen;
  if (agent) return false;
  const trouble = troubleOf(look.context.owned, worker, machine) ?? stoppedFor(look, seen);
  if (trouble) look.survey.broken.push({ worker, trouble });
  return trouble !== undefined;
}

/**
 * Its machine was stopped outside Muster, and a listing after the waiting time still shows it stopped: nothing runs
 * there any more. Its sessions start anew, or fail, once it is deleted.
 */
function stoppedFor({ context }: Look, { worker, observation, listing }: Seen): Trouble | undefined {
  const { stoppedSinceMs = Number.POSITIVE_INFINITY } = observation;
  const isStill = (listing?.startedMs ?? 0) >= stoppedSinceMs + context.times.stoppedAfterMs;
  if (worker.joinedAt === undefined || !isStill) return undefined;
  return { kind: 'unavailable', message: 'its machine was stopped outside Muster', final: true };
}

function noteDrain(look: Look, seen: Seen): void {
  const { survey, context, nowMs } = look;
  const { worker, sessions } = seen;
  if (!worker.drain) return;
  if (worker.drain.isKept && look.pool && !look.pool.removal) return noteKept(look, seen);
  // The deadline is a date that others may have set, so it is compared with the wall clock.
  const leftMs = (worker.drain.deadlineAt ?? Number.POSITIVE_INFINITY) - context.clock.now();
  if (sessions === 0 || leftMs <= 0) survey.drained.push(worker);
  else survey.againAtMs = Math.min(survey.againAtMs, nowMs + leftMs);
}

function noteKept({ survey, nowMs }: Look, { worker, agent, sessions, observation }: Seen): void {
  if (sessions > 0) return;
  const forgottenMs = forgetAtMs(observation.awaySinceMs ?? nowMs);
  if (agent) survey.keptOut.push(worker);
  else if (nowMs >= forgottenMs) survey.drained.push(worker);
  else survey.againAtMs = Math.min(survey.againAtMs, forgottenMs);
}

function factOf(look: Look, { worker, observation, agent, sessions, machine }: Seen): WorkerFact {
  const { context, pool, survey, nowMs } = look;
  const slots = Math.max(1, agent?.slots ?? observation.slots ?? look.slotsPerAgent);
  const phase = workerPhase(worker, agent, sessions);
  const isReturning = phase === 'lost' && nowMs < observation.backByMs;
  const { now: offer, isDefined } = ofOffer(look, worker.offer);
  if (isReturning) survey.againAtMs = Math.min(survey.againAtMs, observation.backByMs);
  return {
    name: worker.id,
    phase: isReturning ? 'returning' : phase,
    slots,
    freeSlots: Math.max(0, slots - sessions),
    sinceMs: sinceOf(look, observation, phase),
    offer,
    pricePerHour: worker.pricePerHour,
    isOutdated: pool !== undefined && (!isDefined || isOfOtherForm(context, worker, offer)),
    isStopping: phase === 'parked' && machine !== undefined && machine.state !== 'suspended',
  };
}

function sinceOf(look: Look, observation: WorkerObservation, phase: WorkerFact['phase']): number {
  const { nowMs, context, bootTimeoutMs } = look;
  if (phase === 'idle') return observation.idleSinceMs ?? nowMs;
  if (phase === 'lost') return observation.awaySinceMs ?? nowMs;
  if (!observation.isFromBefore) return observation.askedMs;
  // It may have booted while no server was there to admit it.
  return Math.max(observation.askedMs, context.owned.base.startedMs + context.times.reconnectGraceMs - bootTimeoutMs);
}

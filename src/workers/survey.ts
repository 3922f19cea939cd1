import { isAbsent, isGone, type Listing } from '#clouds/listing.ts';
import type { Pool } from '#core/pool.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import { type Agent, type Worker, workerPhase } from '#core/worker.ts';
import type { WorkerFact } from '../autoscaler/plan.ts';
import type { Kit } from './kit.ts';
import { listLagMs } from './lag.ts';
import { isOutdated } from './offers.ts';
import { offerNow } from './same-shape.ts';
import type { Sight } from './sight.ts';

/** One look at all workers of a pool: what the plan rests on, and what is due whatever the plan says. */
export interface Survey {
  readonly workers: WorkerFact[];
  /** No longer in the cloud, and without an agent. */
  readonly gone: Worker[];
  /** Still in the cloud, and of no use any more. */
  readonly broken: { readonly worker: Worker; readonly trouble: Trouble }[];
  /** Draining, and free of sessions or past the deadline. */
  readonly drained: Worker[];
  readonly removing: Worker[];
  readonly parked: Worker[];
  /** Woken, and not here yet. */
  readonly waking: Worker[];
  /** Connected, and not in the cloud's listing. */
  readonly ghosts: Worker[];
  /** Workers that were here, and how many of them vanished lately. */
  here: number;
  vanished: number;
  waitsForListing: boolean;
  againAtMs: number;
}

interface Look {
  readonly kit: Kit;
  readonly survey: Survey;
  readonly nowMs: number;
  readonly slotsPerAgent: number;
  readonly bootTimeoutMs: number;
  readonly countLossesFromMs: number;
  isOutdated(worker: Worker): boolean;
  /** The offer of the definition that it counts for. */
  offerOf(worker: Worker): string | undefined;
  listingOf(offer: string | undefined): Listing | undefined;
}

interface Seen {
  readonly worker: Worker;
  readonly sight: Sight;
  readonly agent: Agent | undefined;
  readonly sessions: number;
  readonly listing: Listing | undefined;
  readonly machine: Machine | undefined;
}

/** Looks at every worker of a pool; a pool that is gone is read as one slot an agent. */
export function surveyPool(kit: Kit, id: string, pool: Pool | undefined): Survey {
  const { view } = kit.store;
  const survey: Survey = {
    workers: [],
    gone: [],
    broken: [],
    drained: [],
    removing: [],
    parked: [],
    waking: [],
    ghosts: [],
    here: 0,
    vanished: 0,
    waitsForListing: false,
    againAtMs: Number.POSITIVE_INFINITY,
  };
  const look: Look = {
    kit,
    survey,
    nowMs: kit.clock.monotonic(),
    slotsPerAgent: pool?.spec.scaling.slotsPerAgent ?? 1,
    bootTimeoutMs: pool?.spec.scaling.bootTimeoutMs ?? 0,
    countLossesFromMs: lossesCountFrom(kit, id),
    isOutdated: (worker) => pool !== undefined && isOutdated(kit, pool, worker),
    offerOf: ({ offer }) => offerNow(kit, pool?.spec, offer),
    listingOf: listingsOnce(kit),
  };
  for (const worker of view.workers.by('pool', id)) {
    const listing = look.listingOf(worker.offer);
    lookAt(look, {
      worker,
      listing,
      sight: kit.sightOf(worker),
      agent: view.agents.get(worker.id),
      sessions: view.sessions.count('worker', worker.id),
      machine: listing?.machines.get(worker.machine),
    });
  }
  return survey;
}

/** Most workers of a pool share one offer: its listing is looked up once. */
function listingsOnce({ clouds }: Kit): Look['listingOf'] {
  let offerAsked: string | undefined;
  let listing: Listing | undefined;
  return (offer) => {
    if (offer === undefined) return undefined;
    if (offer !== offerAsked) {
      offerAsked = offer;
      listing = clouds.listing(offer);
    }
    return listing;
  };
}

/** Since when losses count as one: the window before now, or before the freeze that they caused. */
export function lossesCountFrom({ store, clock, times, memoryOf }: Kit, scope: string): number {
  const { frozenMs, pardonedMs } = memoryOf(scope);
  if (store.view.freezes.get(scope)?.automatic) return (frozenMs ?? Number.NEGATIVE_INFINITY) - times.lossWindowMs;
  return Math.max(pardonedMs, clock.monotonic() - times.lossWindowMs);
}

function lookAt(look: Look, seen: Seen): void {
  const { survey } = look;
  const { worker, sight, agent, sessions } = seen;
  noteListing(look, seen);
  countLoss(look, seen);
  if (agent) sight.slots = agent.slots;
  sight.idleSinceMs = agent && sessions === 0 ? (sight.idleSinceMs ?? look.nowMs) : undefined;
  if ((!agent || worker.removal) && !isAtRest(seen)) survey.waitsForListing = true;
  survey.workers.push(factOf(look, seen));
  if (worker.parked) survey.parked.push(worker);
  else if (worker.isWaking) survey.waking.push(worker);
  if (worker.removal) survey.removing.push(worker);
  else if (isDue(look, seen)) survey.gone.push(worker);
  else if (!noteBroken(look, seen)) noteDrain(look, seen);
}

/** Parked, and its cloud shows it so: nothing is awaited of it. */
const isAtRest = ({ worker, machine }: Seen): boolean => worker.parked !== undefined && machine?.state === 'suspended';

function noteListing({ kit, nowMs, survey }: Look, { worker, sight, listing, machine, agent }: Seen): void {
  if (machine) {
    // Once it has been shown, a later listing without it is only as late as listings are.
    if (!sight.hasBeenListed) sight.missedFromMs = Math.min(sight.missedFromMs, nowMs + listLagMs(kit, worker.offer));
    sight.hasBeenListed = true;
    sight.unlistedSinceMs = undefined;
    sight.isKnownGhost = false;
    return;
  }
  const wasHere = sight.hasBeenListed || (sight.isFromBefore && worker.joinedAt !== undefined);
  if (!wasHere || worker.removal || !listing || !isAbsent(listing, worker.machine, sight.missedFromMs)) return;
  sight.unlistedSinceMs ??= nowMs;
  if (agent && isGone(listing, worker.machine, sight.missedFromMs)) survey.ghosts.push(worker);
  else survey.waitsForListing = true;
}

function countLoss({ kit, survey, nowMs, countLossesFromMs }: Look, { worker, sight, agent, sessions }: Seen): void {
  // One that came by itself to a manual pool may go as it likes while it has no work.
  const isFree = worker.offer === undefined && sessions === 0;
  const isHere = !isFree && (worker.joinedAt !== undefined || sight.hasBeenListed);
  if (!isHere || worker.removal || worker.parked || worker.drain?.isTaken) {
    kit.vanished.delete(worker.id);
    return;
  }
  survey.here += 1;
  const isAway = !agent && worker.joinedAt !== undefined && (sight.awaySinceMs ?? nowMs) <= nowMs;
  const sinceMs = Math.min(
    isAway ? (sight.awaySinceMs ?? nowMs) : Number.POSITIVE_INFINITY,
    sight.unlistedSinceMs ?? Number.POSITIVE_INFINITY,
  );
  if (sinceMs === Number.POSITIVE_INFINITY) {
    if (kit.vanished.size > 0) kit.vanished.delete(worker.id);
    return;
  }
  if (!kit.vanished.has(worker.id)) kit.vanished.set(worker.id, { pool: worker.pool, sinceMs });
  if (sinceMs > countLossesFromMs) survey.vanished += 1;
}

/** Whether its row may go: two listings did not show it, nobody is connected, and its launch is settled. */
function isDue({ nowMs }: Look, { worker, sight, agent, listing }: Seen): boolean {
  if (agent || worker.offer === undefined) return false;
  if (worker.createdAt === undefined && worker.joinedAt === undefined) return false;
  if (worker.joinedAt !== undefined && nowMs < (sight.awaySinceMs ?? nowMs)) return false;
  return isGone(listing, worker.machine, sight.missedFromMs);
}

function noteBroken({ survey }: Look, { worker, agent, machine }: Seen): boolean {
  if (agent || !machine) return false;
  const { trouble, state } = machine;
  const isHopeless = trouble?.final === true && worker.joinedAt === undefined;
  if (state !== 'failed' && !isHopeless) return false;
  survey.broken.push({
    worker,
    trouble: trouble ?? { kind: 'unavailable', message: 'its machine failed', final: true },
  });
  return true;
}

function noteDrain({ survey, kit, nowMs }: Look, { worker, sessions }: Seen): void {
  if (!worker.drain) return;
  // The deadline is a date that others may have set, so it is compared with the wall clock.
  const leftMs = (worker.drain.deadlineAt ?? Number.POSITIVE_INFINITY) - kit.clock.now();
  if (sessions === 0 || leftMs <= 0) survey.drained.push(worker);
  else survey.againAtMs = Math.min(survey.againAtMs, nowMs + leftMs);
}

function factOf(look: Look, { worker, sight, agent, sessions, machine }: Seen): WorkerFact {
  const slots = Math.max(1, agent?.slots ?? sight.slots ?? look.slotsPerAgent);
  const phase = workerPhase(worker, agent, sessions);
  const isReturning = phase === 'lost' && look.nowMs < sight.backByMs;
  if (isReturning) look.survey.againAtMs = Math.min(look.survey.againAtMs, sight.backByMs);
  return {
    name: worker.id,
    phase: isReturning ? 'returning' : phase,
    slots,
    freeSlots: Math.max(0, slots - sessions),
    sinceMs: sinceOf(look, sight, phase),
    offer: look.offerOf(worker),
    pricePerHour: worker.pricePerHour,
    isOutdated: look.isOutdated(worker),
    isStopping: phase === 'parked' && machine !== undefined && machine.state !== 'suspended',
  };
}

function sinceOf({ nowMs, kit, bootTimeoutMs }: Look, sight: Sight, phase: WorkerFact['phase']): number {
  if (phase === 'idle') return sight.idleSinceMs ?? nowMs;
  if (phase === 'lost') return sight.awaySinceMs ?? nowMs;
  if (!sight.isFromBefore) return sight.askedMs;
  // It may have booted while nobody was there to let it in.
  return Math.max(sight.askedMs, kit.startedMs + kit.times.reconnectGraceMs - bootTimeoutMs);
}

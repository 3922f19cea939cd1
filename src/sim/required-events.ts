// What must have happened in a long run: an invariant that held while nothing of the kind happened proves little.
import type { PoolReason } from '#autoscaler/reasons.ts';
import { HOUR_MS } from '#core/clock.ts';
import type { DecisionRow } from '#core/journal.ts';
import { readMark } from '#core/mark.ts';
import type { Store } from '#core/store.ts';
import type { FaultName } from './faults.ts';
import type { SeededWorld } from './seeded-world.ts';

export const REQUIRED_EVENTS = {
  parking: 'an idle machine is parked',
  waking: 'a parked machine is woken',
  notice: 'a cloud announces that it takes a machine back',
  'other-offer': 'a pool launches from another offer than its first',
  transfer: 'a pool moves to another source',
  replacement: 'a worker of an older definition is replaced',
  takeover: 'another server takes the lease while a call is about to leave',
} as const;

export type RequiredEvent = keyof typeof REQUIRED_EVENTS;
export type RequiredEventCounts = Record<RequiredEvent, number>;

const NAMES = Object.keys(REQUIRED_EVENTS) as RequiredEvent[];

export const noRequiredEvents = (): RequiredEventCounts =>
  Object.fromEntries(NAMES.map((name) => [name, 0])) as RequiredEventCounts;

/** A decision that replaces workers of an older definition. */
export function countReplacement({ reason, also = [] }: DecisionRow, counts: RequiredEventCounts): void {
  const code: PoolReason = 'outdated';
  if ([reason, ...also].some((each) => each?.code === code)) counts.replacement += 1;
}

/** Counts them in one life of the server, by what it commits. */
export function countRequiredEvents(store: Store, counts: RequiredEventCounts, isAlive: () => boolean): void {
  const count = (name: RequiredEvent, isNow: boolean): void => {
    if (isNow && isAlive()) counts[name] += 1;
  };
  store.onChange('workers', (after, before) => {
    if (!after) return;
    count('parking', after.parked !== undefined && !before?.parked);
    count('waking', after.isWaking === true && !before?.isWaking);
    count('notice', after.drain?.isTaken === true && !before?.drain?.isTaken);
  });
  store.onChange('launches', (after, before) => {
    if (!after || before) return;
    const { owner } = readMark(after.mark);
    const first = store.view.pools.get(owner)?.spec.offers[0]?.id;
    count('other-offer', first !== undefined && first !== after.offer);
  });
  store.onChange('pools', (after, before) => {
    count('transfer', after !== undefined && before !== undefined && after.owner.source !== before.owner.source);
  });
}

const NEEDED_FAULTS: Readonly<Record<RequiredEvent, readonly FaultName[]>> = {
  parking: [],
  waking: [],
  notice: ['notice'],
  'other-offer': ['scarcity'],
  transfer: ['transfer'],
  replacement: ['update'],
  takeover: ['takeover'],
};

// Each is scheduled at least once in every two spells with faults.
const LONG_ENOUGH_MS = 12 * HOUR_MS;

/** Why this world cannot have it; nothing: it must have happened. */
export function whyWithout(
  { clock, draws, definitions, figures, isPlain }: SeededWorld,
  name: RequiredEvent,
): string | undefined {
  const pools = definitions.names().map((pool) => definitions.get(pool));
  const isWithout = (has: (parks: number, offers: number) => boolean): boolean =>
    !pools.some((pool) => has(pool?.parks ?? 0, pool?.regions.length ?? 0));
  const missing = NEEDED_FAULTS[name].find((fault) => draws.rates[fault] === 0);
  if (isPlain) return 'the world is as it was before these were in it';
  if (clock.monotonic() < LONG_ENOUGH_MS) return 'the run is shorter than 12 hours';
  if (figures.accepted === 0) return 'there is no load';
  if (missing !== undefined) return `the fault ${missing} does not happen`;
  if (name === 'parking' || name === 'waking') return isWithout((parks) => parks > 0) ? 'no pool parks' : undefined;
  if (name === 'other-offer') return isWithout((_, offers) => offers > 1) ? 'no pool has two offers' : undefined;
  return undefined;
}

/** What this world could have had, and never did. */
export function neverHappened(world: SeededWorld): RequiredEvent[] {
  if (world.invariants.firstBreak) return [];
  return NAMES.filter((name) => world.figures.requiredEvents[name] === 0 && whyWithout(world, name) === undefined);
}

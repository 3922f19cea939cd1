// Facts as one short text, from which the same plan can be computed again: it holds what a plan reads, and nothing else.
import { Fault } from '#core/fault.ts';
import type { Scaling } from '#core/pool.ts';
import type { Facts, OfferFact, WorkerFact } from './facts.ts';
import { isOverdue } from './overdue.ts';
import { OVERDUE } from './reasons.ts';
import { compareForRemoval, isComing, isRemovable } from './removal-order.ts';

type ReadScaling = Omit<Scaling, 'syncEveryMs' | 'errorResetAfterMs' | 'initialDelayMs'>;

/** Times are spans from the moment of the decision. */
interface Written {
  readonly v: 1;
  readonly scaling: ReadScaling;
  readonly setBy?: Facts['setBy'];
  readonly queued: number;
  readonly offers: readonly (Omit<OfferFact, 'coolingUntilMs'> & { readonly coolingForMs?: number })[];
  readonly budgets?: Facts['budgets'];
  readonly updatePolicy?: Facts['updatePolicy'];
  /** The conditions that hold. */
  readonly is: readonly (typeof CONDITIONS)[number][];
  readonly cloudFault?: Facts['cloudFault'];
  readonly runawayForMs?: number;
  readonly lostAfterMs?: number;
  readonly surplusForMs?: number;
  /** Groups as `count phase free/slots`, then `@place of its offer`, `$price` where it is not that of the offer, `!flags`. */
  readonly workers: string;
  /** Slots of the workers that may go, in the order of removal, as `slots*count`; absent where slots do not tell. */
  readonly order?: string;
}

const CONDITIONS = ['isReady', 'isPaused', 'isFrozen', 'isRemoving', 'isProbing'] as const;

// Of its age a plan reads whether it is overdue, and which of those that may go is the older.
const FLAGS = { outdated: 'o', stopping: 's', overdue: 'x' } as const;

export function writeFacts(facts: Facts, redactText = (text: string): string => text): string {
  const { nowMs, cloudFault, runawayUntilMs, surplusSinceMs } = facts;
  // Piece by piece: an object made only to be written would cost more than its text.
  const setBy = facts.setBy === undefined ? '' : `,"setBy":${JSON.stringify(facts.setBy)}`;
  let text = `{"v":1,"scaling":${writeScaling(facts.scaling)}${setBy},"queued":${facts.queued},"offers":[`;
  for (let at = 0; at < facts.offers.length; at += 1)
    text += `${at === 0 ? '' : ','}${writeOffer(facts.offers[at] as OfferFact, nowMs, redactText)}`;
  text += ']';
  if (facts.budgets !== undefined) text += `,"budgets":${JSON.stringify(facts.budgets)}`;
  if (facts.updatePolicy !== undefined) text += `,"updatePolicy":"${facts.updatePolicy}"`;
  text += `,"is":${writeConditions(facts)}`;
  if (cloudFault) {
    const message = redactText(cloudFault.message);
    text += `,"cloudFault":${JSON.stringify({ kind: cloudFault.kind, message })}`;
  }
  if (runawayUntilMs !== undefined && runawayUntilMs > nowMs)
    text += `,"runawayForMs":${writeMs(runawayUntilMs - nowMs)}`;
  if (facts.lostAfterMs !== undefined) text += `,"lostAfterMs":${writeMs(facts.lostAfterMs)}`;
  if (surplusSinceMs !== undefined) text += `,"surplusForMs":${writeMs(nowMs - surplusSinceMs)}`;
  const order = orderOf(facts);
  return `${text},"workers":"${groupsOf(facts)}"${order === undefined ? '' : `,"order":"${order}"`}}`;
}

/** As JSON has it: what is not finite is null. */
const writeMs = (ms: number): string => (Number.isFinite(ms) ? `${ms}` : 'null');

function writeConditions(facts: Facts): string {
  // Of most decisions.
  if (facts.isReady && !facts.isPaused && !facts.isFrozen && !facts.isRemoving && !facts.isProbing)
    return '["isReady"]';
  return JSON.stringify(CONDITIONS.filter((condition) => facts[condition]));
}

function writeOffer(fact: OfferFact, nowMs: number, redactText: (text: string) => string): string {
  const { coolingUntilMs = 0, coolingFault, coolingWhy, ...offer } = fact;
  if (coolingUntilMs <= nowMs) return JSON.stringify(offer);
  const why = coolingWhy === undefined ? {} : { coolingWhy: redactText(coolingWhy) };
  return JSON.stringify({ ...offer, coolingForMs: coolingUntilMs - nowMs, coolingFault, ...why });
}

// A pool keeps its scaling from decision to decision.
const writtenScalings = new WeakMap<Scaling, string>();

function writeScaling(scaling: Scaling): string {
  const known = writtenScalings.get(scaling);
  if (known !== undefined) return known;
  const { syncEveryMs: _sync, errorResetAfterMs: _reset, initialDelayMs: _delay, ...read } = scaling;
  const text = JSON.stringify(read satisfies ReadScaling);
  writtenScalings.set(scaling, text);
  return text;
}

function groupsOf(facts: Facts): string {
  const { workers, offers } = facts;
  const groups = new Map<string, number>();
  let last: WorkerFact | undefined;
  let group = '';
  for (const worker of workers) {
    // Most workers of a pool are like the one before.
    if (!last || !isAlike(worker, last)) {
      const place = offers.findLastIndex(({ id }) => id === worker.offer);
      group = groupOf(facts, worker, place < 0 ? undefined : place);
      last = worker;
    }
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  let text = '';
  for (const [group, count] of groups) text += `${text && '; '}${count} ${group}`;
  return text;
}

/** Whether they are of one group, whatever their ages: here neither can be overdue. */
function isAlike(one: WorkerFact, other: WorkerFact): boolean {
  return (
    one.phase === other.phase &&
    OVERDUE[one.phase] === undefined &&
    one.slots === other.slots &&
    one.freeSlots === other.freeSlots &&
    one.offer === other.offer &&
    one.pricePerHour === other.pricePerHour &&
    one.isOutdated === other.isOutdated &&
    one.isStopping === other.isStopping
  );
}

function groupOf(facts: Facts, worker: WorkerFact, place: number | undefined): string {
  const { phase, slots, freeSlots, pricePerHour } = worker;
  const flags =
    (worker.isOutdated ? FLAGS.outdated : '') +
    (worker.isStopping ? FLAGS.stopping : '') +
    (isOverdue(facts, worker) ? FLAGS.overdue : '');
  const ofOffer = place === undefined ? undefined : facts.offers[place]?.pricePerHour;
  const offer = place === undefined ? '' : `@${place}`;
  const price = pricePerHour === ofOffer ? '' : `$${pricePerHour ?? ''}`;
  return `${phase} ${freeSlots}/${slots}${offer}${price}${flags && `!${flags}`}`;
}

const GROUP = /^(\d+) (\w+) (\d+)\/(\d+)(?:@(\d+))?(\$[^!]*)?(?:!(\w+))?$/;

/** What precedes age in the order of removal. */
const classOf = (worker: WorkerFact): string =>
  `${worker.isOutdated === true} ${isComing(worker)} ${worker.pricePerHour ?? 0}`;

function orderOf(facts: Facts): string | undefined {
  const removable = facts.workers.filter(isRemovable);
  // Of most pools.
  if (removable.every(({ slots }) => slots === removable[0]?.slots)) return undefined;
  const ordered = removable.sort(compareForRemoval);
  const slots = new Map<string, number>();
  const isMixed = ordered.some((worker) => {
    const first = slots.get(classOf(worker)) ?? worker.slots;
    slots.set(classOf(worker), first);
    return first !== worker.slots;
  });
  if (!isMixed) return undefined;
  const runs: { slots: number; count: number }[] = [];
  for (const worker of ordered) {
    const run = runs.at(-1);
    if (run?.slots === worker.slots) run.count += 1;
    else runs.push({ slots: worker.slots, count: 1 });
  }
  return runs.map((run) => (run.count === 1 ? run.slots : `${run.slots}*${run.count}`)).join(' ');
}

// The moment of the decision is 0, so that a span is read exactly as it was written.
const NOW_MS = 0;
// Older than any limit, and still exact to the millisecond.
const OVERDUE_MS = 2 ** 50;
// Younger than any limit: a millionth of a millisecond apart.
const STEP_MS = 2 ** -20;

/** Facts that lead to the same plan. Workers have other names. What an earlier version wrote is read as well. */
export function readFacts(inputs: string): Facts {
  const written = parse(inputs);
  const { is, runawayForMs, surplusForMs } = written;
  return {
    nowMs: NOW_MS,
    scaling: Object.assign(written.scaling, { syncEveryMs: 0, errorResetAfterMs: 0 }),
    setBy: written.setBy,
    workers: readWorkers(written),
    queued: written.queued,
    offers: written.offers.map(({ coolingForMs, ...offer }) =>
      coolingForMs === undefined ? offer : { ...offer, coolingUntilMs: NOW_MS + coolingForMs },
    ),
    budgets: written.budgets,
    updatePolicy: written.updatePolicy,
    isReady: is.includes('isReady'),
    isPaused: is.includes('isPaused'),
    isFrozen: is.includes('isFrozen'),
    isRemoving: is.includes('isRemoving'),
    isProbing: is.includes('isProbing'),
    cloudFault: written.cloudFault,
    runawayUntilMs: runawayForMs === undefined ? undefined : NOW_MS + runawayForMs,
    lostAfterMs: written.lostAfterMs,
    surplusSinceMs: surplusForMs === undefined ? undefined : NOW_MS - surplusForMs,
  };
}

// A field that is added later is optional: inputs without it are of the same version. Raise it where a field changes its
// meaning, and read the earlier ones as they were written.
const NEWEST_VERSION: Written['v'] = 1;

function parse(inputs: string): Written {
  let written: Written;
  try {
    written = JSON.parse(inputs) as Written;
  } catch {
    throw unreadable('they are no JSON');
  }
  if (Number.isInteger(written?.v) && written.v >= 1 && written.v <= NEWEST_VERSION) return written;
  throw unreadable(`they are of version ${written?.v}, and this server reads up to ${NEWEST_VERSION}`);
}

const unreadable = (why: string): Fault =>
  new Fault('unsupported', `The inputs of this decision cannot be read: ${why}.`, {
    remedy: 'Read it with the version of Muster that recorded it.',
  });

function readWorkers({ workers, offers, order }: Written): WorkerFact[] {
  const read: WorkerFact[] = [];
  if (workers !== '')
    for (const group of workers.split('; ')) {
      const { count, worker } = readGroup(group, offers);
      for (let nth = 0; nth < count; nth += 1) read.push({ ...worker, name: `w${read.length}` });
    }
  return order === undefined ? read : withAges(read, order);
}

function readGroup(group: string, offers: Written['offers']): { count: number; worker: Omit<WorkerFact, 'name'> } {
  const found = GROUP.exec(group);
  if (!found) throw unreadable(`"${group}" is no group of workers`);
  const [, count, phase, free, slots, place, price, flags = ''] = found;
  const offer = place === undefined ? undefined : offers[Number(place)];
  const worker = {
    phase: phase as WorkerFact['phase'],
    slots: Number(slots),
    freeSlots: Number(free),
    sinceMs: flags.includes(FLAGS.overdue) ? NOW_MS - OVERDUE_MS : NOW_MS,
    offer: offer?.id,
    pricePerHour: price === undefined ? offer?.pricePerHour : readPrice(price),
    isOutdated: flags.includes(FLAGS.outdated),
    isStopping: flags.includes(FLAGS.stopping),
  };
  return { count: Number(count), worker };
}

const readPrice = (price: string): number | undefined => (price === '$' ? undefined : Number(price.slice(1)));

const isLate = ({ sinceMs }: WorkerFact): boolean => sinceMs < NOW_MS;

/** Gives those that may go such ages that they stand in the order written. */
function withAges(workers: readonly WorkerFact[], order: string): WorkerFact[] {
  const sizes = order.split(' ').flatMap((run) => {
    const [slots, count = 1] = run.split('*').map(Number);
    return Array.from({ length: count }, () => slots as number);
  });
  const removable = workers.filter(isRemovable).sort(compareForRemoval);
  // Of equal slots those that are not overdue come first: among those on their way the newest does.
  const waiting = Map.groupBy(
    removable.toSorted((a, b) => Number(isLate(a)) - Number(isLate(b))),
    (worker) => `${classOf(worker)} ${worker.slots}`,
  );
  const aged = new Map<WorkerFact, WorkerFact>();
  for (const [place, worker] of removable.entries()) {
    const taken = waiting.get(`${classOf(worker)} ${sizes[place]}`)?.shift() as WorkerFact;
    const steps = isComing(taken) ? place : removable.length - place;
    aged.set(taken, { ...taken, sinceMs: taken.sinceMs - (isLate(taken) ? steps : steps * STEP_MS) });
  }
  return workers.map((worker) => aged.get(worker) ?? worker);
}

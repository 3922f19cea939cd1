// Every reason of a decision about a pool, with its sentence. No sentence holds a running time: equal reasons read alike.
import type { BudgetRoom } from '#core/budget.ts';
import { formatDuration } from '#core/duration.ts';
import type { Reason, SubjectReasons } from '#core/reason.ts';
import type { LimitName } from '#core/schedule.ts';
import { limitText } from './budget-room.ts';
import { mostIdleSlots } from './counts.ts';
import type { Facts, WorkerFact } from './facts.ts';
import type { Growth, Shrinkage } from './scale.ts';

/** A reason with what people read about it. */
export interface Judgement {
  readonly reason: Reason;
  readonly why: string;
  /** What would have to change for another decision. */
  readonly unless: string;
  /** It has led to actions. */
  readonly acts: boolean;
}

interface Rule<D> {
  readonly means: string;
  readonly with?: Readonly<Record<string, (details: D) => string | number | undefined>>;
  why(details: D): string;
  unless(details: D): string;
}

const rule = <D>(given: Rule<D>): Rule<D> => given;

interface PlanFacts {
  readonly facts: Facts;
}
type Growing = PlanFacts & { readonly growth: Growth };
type Shrinking = PlanFacts & { readonly shrinkage: Shrinkage };
type Overdue = PlanFacts & { readonly count: number; readonly afterMs: number };
type Outdated = PlanFacts & { readonly count: number };
type LettingGo = PlanFacts & { readonly budget: BudgetRoom; readonly going: number; readonly finishing: number };
type Removing = PlanFacts & { readonly going: number; readonly staying: number };

const maxAgents = ({ facts }: PlanFacts): number => facts.scaling.maxAgents;
const minIdle = ({ facts }: PlanFacts): number => facts.scaling.minIdleSlots;
const limit = ({ afterMs }: Overdue): string => formatDuration(afterMs);
const decay = ({ facts }: PlanFacts): string => decayOf(facts);
const them = (count: number): string => (count === 1 ? 'it' : 'them');

const writtenDecays = new Map<number, string>();
// Pools write the same few; this bounds what is kept of others.
const MOST_DECAYS_KEPT = 1_000;

/** Its `idle_decay` as people write it; a pool that waits for it says so at every pass. */
export function decayOf({ scaling: { idleDecayMs } }: Facts): string {
  const known = writtenDecays.get(idleDecayMs);
  if (known !== undefined) return known;
  const written = formatDuration(idleDecayMs);
  if (writtenDecays.size >= MOST_DECAYS_KEPT) writtenDecays.clear();
  writtenDecays.set(idleDecayMs, written);
  return written;
}

/** The queue and the free slots in figures; those of workers that start are no idle ones, though they are planned with. */
function slotsNow({ queued, workers }: Facts, idleSlots: number): string {
  let starting = 0;
  for (const { phase, freeSlots } of workers) if (phase === 'launching' || phase === 'booting') starting += freeSlots;
  starting = Math.min(starting, idleSlots);
  return starting === 0
    ? `${queued} queued and ${idleSlots} idle`
    : `${queued} queued, ${idleSlots - starting} idle, ${starting} starting`;
}

/** What sets a limit, where that is not the definition of the pool. */
function by({ setBy }: Facts, limit: LimitName): string {
  const what = setBy?.[limit];
  return what === undefined ? '' : ` (${what})`;
}

/** What the pool lacks, in figures. */
export function shortage(facts: Facts, idleSlots: number): string {
  const { scaling, queued } = facts;
  const idle = slotsNow(facts, idleSlots);
  if (idleSlots - queued < scaling.minIdleSlots) {
    return scaling.minIdleSlots > 0
      ? `${idle}, below min_idle ${scaling.minIdleSlots}${by(facts, 'minIdleSlots')}`
      : idle;
  }
  return `fewer workers than min_agents ${scaling.minAgents}${by(facts, 'minAgents')}`;
}

/** What is launched of what the pool lacks; undefined where nothing is. */
function launching({ facts, growth }: Growing): string | undefined {
  if (growth.launched === 0) return undefined;
  const part = growth.launched < growth.needed ? ` of ${growth.needed} needed` : '';
  return `${shortage(facts, growth.idleSlots)}: launching ${growth.launched}${part}`;
}

const lacking = ({ facts, growth }: Growing): string => shortage(facts, growth.idleSlots);
const idleNow = ({ facts, shrinkage }: Shrinking): string => slotsNow(facts, shrinkage.idleSlots);
const said = ({ growth }: Growing): string => (growth.coolingWhy === undefined ? '' : ` (${growth.coolingWhy})`);

const budgetName = ({ growth }: Growing): string | undefined => growth.tightest?.budget.name;
const limitOfBudget = ({ growth: { tightest } }: Growing): string => (tightest ? limitText(tightest) : 'a budget');

/** What is launched up to a budget, or why nothing is. */
function heldByBudget(details: Growing): string {
  const launched = launching(details);
  const limit = limitOfBudget(details);
  return launched === undefined
    ? `${lacking(details)}, but another machine would exceed ${limit}`
    : `${launched}, up to ${limit}`;
}

function unpricedOffers({ facts }: PlanFacts): string | undefined {
  const ids = facts.offers.flatMap(({ id, isUnpriced, countedPerHour, pricePerHour }) =>
    isUnpriced || (countedPerHour ?? pricePerHour) === undefined ? [id] : [],
  );
  return ids.length > 0 ? ids.join(' ') : undefined;
}

function coolingOffers({ facts }: PlanFacts): string | undefined {
  const ids = facts.offers.flatMap(({ id, coolingUntilMs = 0 }) => (coolingUntilMs > facts.nowMs ? [id] : []));
  return ids.length > 0 ? ids.join(' ') : undefined;
}

function coolingFaults({ facts }: PlanFacts): string | undefined {
  const kinds = facts.offers.flatMap(({ coolingFault, coolingUntilMs = 0 }) =>
    coolingUntilMs > facts.nowMs && coolingFault !== undefined ? [coolingFault] : [],
  );
  return kinds.length > 0 ? [...new Set(kinds)].join(' ') : undefined;
}

const cooling = { offers: coolingOffers, faults: coolingFaults };

const RULES = {
  frozen: rule<PlanFacts>({
    means: 'The pool or the fleet is frozen.',
    why: () => 'frozen: Muster launches, removes and gives up nothing',
    unless: () => 'you thaw it',
  }),
  paused: rule<PlanFacts>({
    means: 'The pool is paused.',
    why: () => 'paused: Muster launches and removes nothing',
    unless: () => 'you resume the pool',
  }),
  'pool-removed': rule<Removing>({
    means: 'The definition of the pool is gone: idle workers are removed at once, busy ones finish first.',
    why({ going, staying }) {
      const now = going > 0 ? `${going} worker${going === 1 ? ' is' : 's are'} removed now` : 'all workers are busy';
      const later = staying > 0 ? `, ${staying} with sessions ${staying === 1 ? 'finishes' : 'finish'} first` : '';
      return `the pool is being removed: ${now}${later}`;
    },
    unless: () => 'you define the pool again',
  }),
  manual: rule<PlanFacts>({
    means: 'The pool has no backend: its agents join and leave by themselves.',
    why: () => 'a manual pool: its agents join and leave by themselves',
    unless: () => 'you give the pool a backend',
  }),
  'not-listed': rule<PlanFacts>({
    means: 'The cloud has not been listed yet, or shows machines without a worker record.',
    why: () =>
      'the cloud has not been listed yet, or shows machines without a worker record: Muster launches and removes nothing until a listing succeeds',
    unless: () => 'a listing succeeds and every machine in it is known, or initial_delay passes',
  }),
  'cloud-fault': rule<PlanFacts>({
    means: 'The cloud has not been listed yet because its API fails.',
    with: { fault: ({ facts }) => facts.cloudFault?.kind },
    why: ({ facts }) =>
      `the cloud cannot be listed; until it can, Muster launches and removes nothing (${facts.cloudFault?.message})`,
    unless: () => 'a listing succeeds and every machine in it is known, or initial_delay passes',
  }),
  'boot-timeout': rule<Overdue>({
    means: 'A machine did not join within `boot_timeout`, and is removed.',
    with: { limit },
    why: (details) =>
      `${details.count} did not join within boot_timeout ${limit(details)}: removing ${them(details.count)}`,
    unless: () => 'you raise boot_timeout',
  }),
  'unknown-timeout': rule<Overdue>({
    means: 'A machine without a worker record stayed for `kill_unknown_after`, and is removed.',
    with: { limit },
    why: (details) =>
      `${details.count} stayed unknown for kill_unknown_after ${limit(details)}: removing ${them(details.count)}`,
    unless: () => 'you raise kill_unknown_after',
  }),
  'lost-timeout': rule<Overdue>({
    means: 'The agent of a worker without sessions did not come back in time; the worker is removed.',
    with: { limit },
    why: (details) => `${details.count} stayed lost for ${limit(details)}: removing ${them(details.count)}`,
    unless: () => 'the agent reconnects in time',
  }),
  outdated: rule<Outdated>({
    means: 'Workers of an older definition are replaced, as `update_policy` says.',
    why: ({ count }) => `${count} of an older definition: replacing ${them(count)}`,
    unless: () => 'you set update_policy to keep',
  }),
  'outdated-launch': rule<PlanFacts>({
    means: 'A worker is launched that will replace one of an older definition.',
    why: () => 'launching 1 to replace one of an older definition',
    unless: () => 'you set update_policy to keep',
  }),
  'outdated-kept': rule<PlanFacts>({
    means: 'Workers of an older definition stay because no replacement can be launched.',
    why: () => 'workers of an older definition stay while no replacement can be launched',
    unless: () => 'a replacement can be launched',
  }),
  demand: rule<Growing>({
    means: 'The queue, `min_idle_agents` or `min_agents` asks for more workers, and they are launched.',
    why: (details) => launching(details) as string,
    unless: () => 'the queue gets shorter or an agent becomes idle',
  }),
  'next-backend': rule<Growing>({
    means: 'More workers are launched from a later backend because an earlier one failed.',
    with: cooling,
    why: (details) => `${launching(details)} from the next backend${said(details)}`,
    unless: () => 'the queue gets shorter or an agent becomes idle',
  }),
  batch: rule<Growing>({
    means: 'The pool lacks workers, but in batch mode it does not grow by itself.',
    why: (details) => `${lacking(details)}, but in batch mode the pool does not grow by itself`,
    unless: () => 'someone requests a batch',
  }),
  'max-agents': rule<Growing>({
    means: 'The pool lacks workers, and `max_agents` allows no more.',
    with: { maxAgents },
    why(details) {
      const most = `${maxAgents(details)}${by(details.facts, 'maxAgents')}`;
      const launched = launching(details);
      if (launched !== undefined) return `${launched}, up to max_agents ${most}`;
      return maxAgents(details) === 0
        ? `${lacking(details)}, but max_agents ${most} never launches`
        : `${lacking(details)}, but the pool is at max_agents ${most}`;
    },
    unless: (details) =>
      details.growth.launched > 0 || maxAgents(details) === 0
        ? 'you raise max_agents'
        : 'you raise max_agents, or a session ends',
  }),
  'max-price': rule<Growing>({
    means: 'The pool lacks workers, and `max_price_per_hour` allows no more.',
    with: { maxPricePerHour: ({ facts }) => facts.scaling.maxPricePerHour },
    why(details) {
      const { maxPricePerHour } = details.facts.scaling;
      const launched = launching(details);
      return launched === undefined
        ? `${lacking(details)}, but another machine would exceed max_price_per_hour ${maxPricePerHour}`
        : `${launched}, up to max_price_per_hour ${maxPricePerHour}`;
    },
    unless: ({ growth }) =>
      growth.launched > 0
        ? 'you raise max_price_per_hour'
        : 'you raise max_price_per_hour, or a more expensive worker is removed',
  }),
  'budget-hour': rule<Growing>({
    means: 'The pool lacks workers, and `per_hour` of a budget allows no more.',
    with: { budget: budgetName, perHour: ({ growth }) => growth.tightest?.budget.perHour },
    why: heldByBudget,
    unless: (details) => `you raise ${limitOfBudget(details)}, or a machine under it is removed`,
  }),
  'budget-month': rule<Growing>({
    means: 'The pool lacks workers, and `per_month` of a budget does not hold another hour of one more machine.',
    with: { budget: budgetName, perMonth: ({ growth }) => growth.tightest?.budget.perMonth },
    why: heldByBudget,
    unless: (details) => `you raise ${limitOfBudget(details)}, or the next month begins`,
  }),
  'budget-spent': rule<LettingGo>({
    means: '`per_month` of a budget is spent: idle workers are removed, busy ones finish and take no new session.',
    with: { budget: ({ budget }) => budget.name, perMonth: ({ budget }) => budget.perMonth },
    why({ budget: { name, perMonth }, going, finishing }) {
      const now = going > 0 ? `: removing ${going} without sessions` : '';
      const later =
        finishing > 0 ? `; ${finishing} with sessions ${finishing === 1 ? 'finishes' : 'finish'} first` : '';
      return `budget ${name} is spent (per_month ${perMonth})${now}${later}`;
    },
    unless: ({ budget: { name } }) => `you raise per_month of budget ${name}, or the next month begins`,
  }),
  'price-unknown': rule<Growing>({
    means: 'The pool lacks workers, and a budget launches nothing whose price is not known.',
    with: { budget: budgetName, offers: unpricedOffers },
    why(details) {
      const launched = launching(details);
      const what = `budget ${budgetName(details)} needs the price of its backends`;
      return launched === undefined ? `${lacking(details)}, but ${what}` : `${launched}; for more ${what}`;
    },
    unless: () => 'you set price_per_hour of the backend, or its cloud says what a machine costs',
  }),
  'backends-full': rule<Growing>({
    means: 'The pool lacks workers, and each backend has as many as its own `max_agents` allows.',
    why(details) {
      const launched = launching(details);
      return launched === undefined
        ? `${lacking(details)}, but each backend is at its own max_agents`
        : `${launched}, up to max_agents of its backends`;
    },
    unless: () => 'you raise max_agents of a backend',
  }),
  'launch-failed': rule<Growing>({
    means: 'The pool lacks workers, and the last launch failed on every backend that has room.',
    with: cooling,
    why: (details) => `${lacking(details)}, but launching failed${said(details)}`,
    unless: ({ facts }) => `${formatDuration(facts.scaling.retryDelayMs)} pass after the failure, or an agent joins`,
  }),
  'boot-failures': rule<Growing>({
    means: 'The pool lacks workers, but several machines in a row did not join: launching is suspended.',
    why: (details) => `${lacking(details)}, but the machines launched last did not join: launching is suspended`,
    unless: () => 'an agent joins, the pool is changed, or the wait passes',
  }),
  probing: rule<Growing>({
    means: 'Machines did not join before: they are launched one at a time until one joins.',
    why(details) {
      const launched = launching(details);
      return launched === undefined
        ? `${lacking(details)}, but machines did not join before: waiting for the one on its way`
        : `${launched} because the last ones did not join`;
    },
    unless: ({ growth }) => (growth.launched > 0 ? 'an agent joins' : 'the machine joins or its boot_timeout passes'),
  }),
  enough: rule<Growing>({
    means: 'The pool has the size that its limits ask for.',
    with: {
      minIdle,
      maxIdle: ({ facts }) => mostIdleSlots(facts),
      minAgents: ({ facts }) => facts.scaling.minAgents,
    },
    why({ facts, growth }) {
      const { minIdleSlots, minAgents } = facts.scaling;
      const idle = `min_idle ${minIdleSlots}${by(facts, 'minIdleSlots')}, max_idle ${mostIdleSlots(facts)}${by(facts, 'maxIdleSlots')}`;
      return `${slotsNow(facts, growth.idleSlots)}: within ${idle}, min_agents ${minAgents}${by(facts, 'minAgents')}`;
    },
    unless: () => 'a session arrives or ends, or the limits change',
  }),
  'above-max-idle': rule<Shrinking>({
    means: 'More slots are idle than `max_idle_agents` allows: workers are removed at once.',
    with: { maxIdle: ({ facts }) => mostIdleSlots(facts) },
    why: (details) =>
      `${idleNow(details)}, above max_idle ${mostIdleSlots(details.facts)}${by(details.facts, 'maxIdleSlots')}: removing ${details.shrinkage.removed}`,
    unless: () => 'you raise max_idle',
  }),
  'idle-decay-wait': rule<Shrinking>({
    means: 'More slots are idle than `min_idle_agents` asks for: a worker is removed once `idle_decay` has passed.',
    with: { minIdle, decay },
    why: (details) =>
      `${idleNow(details)}, more than min_idle ${minIdle(details)}${by(details.facts, 'minIdleSlots')}: removing one worker after idle_decay ${decay(details)}`,
    unless: () => 'a session takes an idle slot before',
  }),
  'idle-decay': rule<Shrinking>({
    means: 'More slots were idle than `min_idle_agents` asks for during `idle_decay`: a worker is removed.',
    with: { minIdle, decay },
    why: (details) =>
      `${idleNow(details)}, more than min_idle ${minIdle(details)}${by(details.facts, 'minIdleSlots')} for idle_decay ${decay(details)}: removing ${details.shrinkage.removed}`,
    unless: () => 'you raise min_idle',
  }),
} as const;

export type PoolReason = keyof typeof RULES;
type DetailsOf<C extends PoolReason> = (typeof RULES)[C] extends Rule<infer D> ? D : never;

// Read once: every pass of every pool makes a judgement.
const SETTINGS = Object.fromEntries(
  Object.entries(RULES).map(([code, { with: reads = {} }]: [string, Rule<never>]) => {
    return [code, { bare: Object.freeze({ code }), names: Object.keys(reads), reads: Object.values(reads) }];
  }),
) as Record<PoolReason, { bare: Reason; names: string[]; reads: ((details: never) => string | number | undefined)[] }>;

export function judge<C extends PoolReason>(code: C, details: DetailsOf<C>, acts: boolean): Judgement {
  const found = RULES[code] as unknown as Rule<DetailsOf<C>>;
  return { reason: reasonOf(code, details), why: found.why(details), unless: found.unless(details), acts };
}

function reasonOf(code: PoolReason, details: unknown): Reason {
  const { bare, names, reads } = SETTINGS[code];
  if (names.length === 0) return bare;
  const settings: Record<string, string | number> = {};
  for (let at = 0; at < names.length; at += 1) {
    const value = reads[at]?.(details as never);
    if (value !== undefined) settings[names[at] as string] = value;
  }
  return { code, with: settings };
}

/** Which reason a worker that outstayed its limit gives. */
export const OVERDUE: Partial<Record<WorkerFact['phase'], 'boot-timeout' | 'unknown-timeout' | 'lost-timeout'>> = {
  launching: 'boot-timeout',
  booting: 'boot-timeout',
  unknown: 'unknown-timeout',
  lost: 'lost-timeout',
};

export const reasons: SubjectReasons = {
  subject: 'pool',
  verbs: ['launch', 'drain', 'remove'],
  reasons: Object.fromEntries(
    Object.entries(RULES).map(([code, each]) => [
      code,
      { means: each.means, with: Object.keys((each as Rule<never>).with ?? {}) },
    ]),
  ),
};

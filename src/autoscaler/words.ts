// What people read about a decision. No sentence holds a running time: equal reasons must read equal.
import { formatDuration } from '#core/duration.ts';
import type { Facts } from './facts.ts';
import { type Ledger, mostIdleSlots } from './ledger.ts';
import type { Growth, Shrinkage } from './scale.ts';

export interface Saying {
  readonly why: string;
  readonly unless: string;
}

export const MANUAL: Saying = {
  why: 'a manual pool: its agents come and go by themselves',
  unless: 'give the pool a backend to have its workers launched',
};

export function notReady({ cloudFault }: Facts): Saying {
  const unless = 'a listing succeeds and every machine in it is known, or initial_delay passes';
  return cloudFault === undefined
    ? {
        why: 'the cloud has not been listed yet, or shows machines that nobody knows: nothing is launched or removed before',
        unless,
      }
    : { why: `the cloud cannot be listed, and nothing is launched or removed before (${cloudFault})`, unless };
}

export function held({ isFrozen }: Facts): Saying {
  return isFrozen
    ? { why: 'Frozen: nothing is launched, removed or given up.', unless: 'thaw it' }
    : { why: 'Paused: nothing is launched or removed.', unless: 'resume the pool' };
}

export function removingPool(going: number, staying: number): Saying {
  const now =
    going > 0 ? `${count(going, 'worker')} ${going === 1 ? 'goes' : 'go'} now` : 'no worker is left without work';
  const later = staying > 0 ? `, ${staying} with sessions ${staying === 1 ? 'finishes' : 'finish'} first` : '';
  return { why: `The pool is being removed: ${now}${later}.`, unless: 'define the pool again' };
}

/** The notes on what was removed for cause, then the decision itself, as one sentence. */
export function after(ledger: Ledger, saying: Saying): Saying {
  const sentence = [...ledger.notes, saying.why].join('; ');
  return { why: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`, unless: saying.unless };
}

/** What the pool lacks, in figures. */
export function shortage({ scaling, queued }: Facts, { idleSlots }: Pick<Growth, 'idleSlots'>): string {
  const idle = `${queued} queued and ${idleSlots} idle`;
  if (idleSlots - queued < scaling.minIdleSlots) {
    return scaling.minIdleSlots > 0 ? `${idle}, below min_idle ${scaling.minIdleSlots}` : idle;
  }
  return `fewer workers than min_agents ${scaling.minAgents}`;
}

export function growing(facts: Facts, growth: Growth): Saying {
  if (growth.needed === 0) return steady(facts, growth);
  const lack = shortage(facts, growth);
  if (growth.launched === 0) return stuck(facts, growth, lack);
  const part = growth.launched < growth.needed ? ` of ${growth.needed} needed` : '';
  const why = `${lack}: launching ${growth.launched}${part}`;
  if (growth.held === 'cap')
    return { why: `${why}, up to max_agents ${facts.scaling.maxAgents}`, unless: 'raise max_agents' };
  if (growth.held === 'price')
    return {
      why: `${why}, up to max_price_per_hour ${facts.scaling.maxPricePerHour}`,
      unless: 'raise max_price_per_hour',
    };
  if (growth.held === 'full') return { why: `${why}, up to max_agents of its backends`, unless: 'raise one of them' };
  if (growth.held === 'probing') return { why: `${why}, since the last ones did not join`, unless: 'an agent joins' };
  const passed = growth.coolingWhy === undefined ? '' : ` from the next backend (${growth.coolingWhy})`;
  return { why: `${why}${passed}`, unless: 'the queue gets shorter or an agent becomes idle' };
}

function stuck(facts: Facts, growth: Growth, lack: string): Saying {
  const { scaling } = facts;
  switch (growth.held) {
    case 'batch':
      return { why: `${lack}, but in batch mode the pool does not grow by itself`, unless: 'a batch is asked for' };
    case 'cooling':
      return {
        why: `${lack}, but launching failed${growth.coolingWhy === undefined ? '' : ` (${growth.coolingWhy})`}`,
        unless: `${formatDuration(scaling.retryDelayMs)} pass after the failure, or an agent joins`,
      };
    case 'price':
      return {
        why: `${lack}, but another machine would exceed max_price_per_hour ${scaling.maxPricePerHour}`,
        unless: 'raise max_price_per_hour, or a dearer worker goes',
      };
    case 'full':
      return { why: `${lack}, but each backend is at its own max_agents`, unless: 'raise one of them' };
    case 'runaway':
      return {
        why: `${lack}, but the machines launched last did not join: launching has stopped for a while`,
        unless: 'an agent joins, the pool is changed, or the wait passes',
      };
    case 'probing':
      return {
        why: `${lack}, but machines did not join before: waiting for the one on its way`,
        unless: 'it joins or its boot_timeout passes',
      };
    default:
      return scaling.maxAgents === 0
        ? { why: `${lack}, but max_agents 0 never launches`, unless: 'raise max_agents' }
        : {
            why: `${lack}, but the pool is at max_agents ${scaling.maxAgents}`,
            unless: 'raise max_agents or wait for a session to end',
          };
  }
}

function steady(facts: Facts, { idleSlots }: Growth): Saying {
  const { scaling, queued } = facts;
  const bounds = `min_idle ${scaling.minIdleSlots}, max_idle ${mostIdleSlots(facts)}`;
  return {
    why: `${queued} queued and ${idleSlots} idle: as it should be with ${bounds}, min_agents ${scaling.minAgents}`,
    unless: 'a session comes or ends, or the limits change',
  };
}

export function shrinking(facts: Facts, { removed, how, idleSlots }: Shrinkage): Saying {
  const { scaling, queued } = facts;
  const idle = `${queued} queued and ${idleSlots} idle`;
  const decay = formatDuration(scaling.idleDecayMs);
  if (how === 'excess') {
    return { why: `${idle}, above max_idle ${mostIdleSlots(facts)}: removing ${removed}`, unless: 'raise max_idle' };
  }
  const more = `${idle}, more than min_idle ${scaling.minIdleSlots}`;
  if (how === 'waiting') {
    return { why: `${more}: one worker goes after idle_decay ${decay}`, unless: 'a session takes it first' };
  }
  return { why: `${more} for idle_decay ${decay}: removing ${removed}`, unless: 'raise min_idle' };
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

export function figures(facts: Facts, ledger: Ledger): Readonly<Record<string, number | boolean>> {
  const { scaling } = facts;
  return {
    queued: facts.queued,
    ...ledger.phases,
    machines: facts.workers.length,
    minIdleSlots: scaling.minIdleSlots,
    maxIdleSlots: mostIdleSlots(facts),
    minAgents: scaling.minAgents,
    maxAgents: scaling.maxAgents,
    slotsPerAgent: scaling.slotsPerAgent,
    ...(ledger.pricePerHour > 0 ? { pricePerHour: Math.round(ledger.pricePerHour * 10_000) / 10_000 } : {}),
    ...(scaling.maxPricePerHour === undefined ? {} : { maxPricePerHour: scaling.maxPricePerHour }),
    isReady: facts.isReady,
  };
}

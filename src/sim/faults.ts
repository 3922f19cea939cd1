import { type Clock, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Chance } from './chance.ts';

/** Everything that can go wrong, and how often: for each call, for each machine, or an hour in the whole world. */
export const FAULT_RATES = {
  /** Of creates and deletes: all is done, and the caller hears nothing. */
  'lost-reply': 0.04,
  /** Of creates: some names are left out of the answer, made or not. */
  'partial-reply': 0.03,
  /** Of all calls: no answer ever. */
  'hanging-call': 0.01,
  /** Of all calls: an answer after up to half a minute. */
  'slow-call': 0.05,
  /** Of lists: the second page fails, or all of it. */
  'list-failure': 0.04,
  /** Of lists: one shows nothing at all, though all is there. */
  'empty-list': 0.01,
  /** Whether lists show what was made or deleted only seconds later: 1 or 0. */
  'late-list': 1,
  /** Of creates: what they ask for is out of stock, for minutes. */
  'stock-out': 0.02,
  /** Of creates: part of the names is over the quota. */
  quota: 0.02,
  /** Of all calls. */
  throttling: 0.03,
  /** Of machines: they run, and no agent ever joins from them. */
  'no-boot': 0.03,
  /** Of machines: they take minutes. */
  'slow-boot': 0.05,
  /** Of machines: dead before they were deleted. */
  'machine-death': 0.04,
  /** Of machines: the cloud shows them as failed, with nothing running there. */
  'machine-failure': 0.02,
  /** An hour and ten machines: an agent is cut off for seconds to twenty minutes. */
  'agent-cut': 1,
  /** An hour and ten pools: all agents of a pool are cut off for 90 seconds. */
  'pool-cut': 0.5,
  /** Of starts: the agent will not have it. */
  refusal: 0.01,
  /** An hour: someone sets the wall clock of the server. */
  'clock-jump': 0.3,
  /** An hour: the server dies at any moment. */
  crash: 0.5,
  /** Of commits: the server dies there, before or after the disk has it. */
  'crash-at-commit': 0.0003,
  /** Of calls to clouds: the server dies there, before or after the cloud has heard it. */
  'crash-at-call': 0.0005,
  /** Of commits: the disk takes up to seconds. */
  'slow-disk': 0.03,
  /** Of commits: the disk fails, which ends the server. */
  'disk-failure': 0.0001,
  /** An hour and ten pools: someone edits a definition. */
  edit: 0.5,
  /** An hour and ten pools: someone removes a definition, and brings it back later. */
  removal: 0.2,
  /** An hour and ten pools: someone writes nonsense into a definition, and corrects it later. */
  nonsense: 0.1,
  /** Of syncs: the source cannot be read, or lacks a document that is there. */
  'source-failure': 0.03,
  /** An hour and ten pools: an operator drains a worker, or pauses a pool for a while. */
  operator: 0.3,
  /** An hour, evenly: a cloud announces that it takes some machines back, and two minutes later does. */
  notice: 1,
  /** An hour, evenly: another server takes the lease while the holder stands still between its last look and a call. */
  takeover: 0.5,
  /** An hour, evenly: the cloud that a pool with several offers asks first has no room for minutes. */
  scarcity: 1,
  /** An hour, evenly: a definition moves to another source. */
  transfer: 0.5,
  /** An hour, evenly: a definition asks for machines of another form, and workers are replaced step by step. */
  update: 0.5,
} as const;

export type FaultName = keyof typeof FAULT_RATES;
export type FaultRates = Readonly<Record<FaultName, number>>;

const NAMES = Object.keys(FAULT_RATES) as FaultName[];

export const NO_FAULTS = Object.fromEntries(NAMES.map((name) => [name, 0])) as unknown as FaultRates;

/** These faults at their usual rates, and no others. */
export function onlyFaults(...names: readonly FaultName[]): FaultRates {
  return { ...NO_FAULTS, ...Object.fromEntries(names.map((name) => [name, FAULT_RATES[name]])) };
}

/** Reads `all`, `none`, or names separated by commas. */
export function parseFaults(text: string): FaultRates {
  if (text === 'all') return FAULT_RATES;
  if (text === 'none') return NO_FAULTS;
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (name in FAULT_RATES) continue;
    throw new Fault('invalid', `There is no fault "${name}".`, {
      at: '--faults',
      remedy: `Use all, none, or some of: ${NAMES.join(', ')}.`,
    });
  }
  return onlyFaults(...(names as FaultName[]));
}

/** What goes wrong now, and what has. */
export interface FaultDraws {
  /** Draws whether that fault happens here and now, and counts it. */
  strikes(name: FaultName, chance: Chance): boolean;
  /** How often it happens now: 0 while it is calm. */
  rate(name: FaultName): number;
  /** How often it happens outside of calm spells; 0 once it is calm for good. */
  usualRate(name: FaultName): number;
  /** For how long nothing has gone wrong. */
  quietMs(): number;
  count(name: FaultName): void;
  /** Nothing goes wrong any more. */
  calm(): void;
  /** As the world was opened with. */
  readonly rates: FaultRates;
  readonly counts: ReadonlyMap<FaultName, number>;
}

// A calm spell is longer than the longest boot, wait after a refusal and cut together, so that what must hold again
// some time after the last fault can be looked at.
const SPELL_MS = 150 * MINUTE_MS;
const FAULTY_MS = 80 * MINUTE_MS;

export interface FaultDrawOptions {
  readonly clock: Clock;
  readonly rates: FaultRates;
  /** Spells with faults and calm spells take turns. */
  readonly hasSpells: boolean;
}

export function openFaultDraws({ clock, rates, hasSpells }: FaultDrawOptions): FaultDraws {
  const counts = new Map<FaultName, number>();
  let isOver = false;
  let lastMs = 0;
  const isCalm = (): boolean => isOver || (hasSpells && clock.monotonic() % SPELL_MS >= FAULTY_MS);
  const rate = (name: FaultName): number => (isCalm() ? 0 : rates[name]);
  const count = (name: FaultName): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    lastMs = clock.monotonic();
  };
  return {
    counts,
    rates,
    rate,
    usualRate: (name) => (isOver ? 0 : rates[name]),
    quietMs: () => clock.monotonic() - lastMs,
    count,
    strikes(name, chance) {
      const isStruck = chance.happens(rate(name));
      if (isStruck) count(name);
      return isStruck;
    },
    calm: () => {
      isOver = true;
    },
  };
}

// Faults that chance alone would bring too seldom to count on: in every spell with faults, at times that the seed chooses.
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { SimAgents } from './agents.ts';
import type { SimCall, SimEffect } from './backend.ts';
import type { Definition, Definitions } from './definitions.ts';
import type { FaultName } from './faults.ts';
import type { MachineFaults } from './machine-faults.ts';
import type { WorldState } from './world-state.ts';

export interface ScheduledFaults {
  /** What becomes of a call to that region. */
  ofCall(region: string, call: SimCall): SimEffect | undefined;
  start(): void;
}

export interface ScheduledFaultOptions extends WorldState {
  readonly definitions: Definitions;
  readonly agents: SimAgents;
  readonly machineFaults: MachineFaults;
  takeOver(afterMs: number): void;
}

const CALM_LOOK_MS = 5 * MINUTE_MS;
const LONGEST_ELECTION_MS = 3_000;
// The former holder stands still for so long: its call arrives when the next has long started.
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [5_000, 2 * MINUTE_MS];

export function openScheduledFaults(options: ScheduledFaultOptions): ScheduledFaults {
  const { clock, draws, eventLog, definitions, agents, machineFaults } = options;
  const chance = options.chance('scheduled-faults');
  const scarceUntilMs = new Map<string, number>();
  let awaited: 'create' | 'any write' | undefined;

  /** Calm spells put it off. */
  function evenly(name: FaultName, happen: () => string | undefined): void {
    const meanMs = HOUR_MS / draws.usualRate(name);
    if (meanMs === Number.POSITIVE_INFINITY) return;
    const look = (): void => {
      if (draws.usualRate(name) === 0) return;
      const about = draws.rate(name) > 0 ? happen() : undefined;
      if (about === undefined) return void clock.alarm(CALM_LOOK_MS, look);
      draws.count(name);
      eventLog.note(name, about);
      clock.alarm(chance.ms(meanMs / 2, meanMs * 1.5), look);
    };
    clock.alarm(chance.ms(0, meanMs), look);
  }

  /** A pool that has workers, where any has. */
  function somePool(isMeant: (definition: Definition) => boolean = () => true): Definition | undefined {
    const all = definitions.names().flatMap((name) => definitions.get(name) ?? []);
    const meant = all.filter(isMeant);
    const served = new Set([...agents.all.values()].map(({ pool }) => pool));
    const busy = meant.filter(({ name }) => served.has(name));
    return chance.pick(busy.length > 0 ? busy : meant);
  }

  function transfer(): string | undefined {
    const pool = somePool();
    if (pool) definitions.move(pool.name);
    return pool?.name;
  }

  function update(): string | undefined {
    const pool = somePool();
    if (pool) definitions.write({ ...pool, size: pool.size === 'small' ? 'large' : 'small' });
    return pool?.name;
  }

  function scarcity(): string | undefined {
    const [region] = somePool(({ regions }) => regions.length > 1)?.regions ?? [];
    if (region === undefined) return undefined;
    scarceUntilMs.set(region, clock.monotonic() + chance.ms(10 * MINUTE_MS, 30 * MINUTE_MS));
    return region;
  }

  function notice(): string | undefined {
    const there = [...agents.all.values()];
    const taken = new Set(Array.from({ length: Math.min(there.length, chance.whole(1, 3)) }, () => chance.pick(there)));
    if (taken.size === 0) return undefined;
    machineFaults.takeBack(taken);
    return [...taken].map(({ name }) => name).join(' ');
  }

  function takeover(): string | undefined {
    if (awaited) return undefined;
    awaited = chance.pick(['create', 'any write'] as const);
    return `at the next ${awaited}`;
  }

  return {
    ofCall(region, { name }) {
      const isMeant = awaited === name || (awaited === 'any write' && name !== 'list');
      if (isMeant) {
        awaited = undefined;
        options.takeOver(chance.ms(0, LONGEST_ELECTION_MS));
        return { is: 'hang', isDone: true, afterMs: chance.ms(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS) };
      }
      const isScarce = (scarceUntilMs.get(region) ?? 0) > clock.monotonic() && draws.rate('scarcity') > 0;
      if (!isScarce || (name !== 'create' && name !== 'resume')) return undefined;
      return { is: 'refused', fault: new Fault('exhausted', 'There is not enough capacity in this region.') };
    },
    start() {
      evenly('notice', notice);
      evenly('takeover', takeover);
      evenly('scarcity', scarcity);
      evenly('transfer', transfer);
      evenly('update', update);
    },
  };
}

import { MINUTE_MS } from '#core/clock.ts';
import type { Mark } from '#core/provider.ts';
import { type SimCallName, type SimCloud, simCloud } from './backend.ts';
import type { Chance } from './chance.ts';
import { cloudFaults } from './cloud-faults.ts';
import type { CrashPoints } from './crash-points.ts';
import { countMachines, type Figures } from './figures.ts';
import type { Laws } from './laws/laws.ts';
import type { MachineFaults } from './machine-faults.ts';
import type { ScheduledFaults } from './scheduled-faults.ts';
import type { WorldState } from './world-state.ts';

export interface RegionParts {
  readonly laws: Laws;
  readonly machineFaults: MachineFaults;
  readonly crashPoints: CrashPoints;
  readonly scheduledFaults: ScheduledFaults;
  crash(why: string): void;
}

// Pools say how many they keep.
const MOST_PARKED = 100;

/** Opens one simulated cloud for each name; in each there is a machine that belongs to others. */
export function openRegions(state: WorldState, parts: RegionParts, names: Iterable<string>): void {
  for (const [nth, name] of [...new Set(names)].toSorted().entries()) {
    const chance = state.chance('region', nth);
    const region = openRegion(state, chance, name);
    region.script = scriptOf(state, chance, { ...parts, name });
    const mark: Mark = { cluster: 'another', use: 'worker', owner: 'theirs', shape: 'theirs' };
    region.add({ name: `foreign-${name}`, mark, createdAt: state.clock.now(), state: 'running' });
    followExisting(state.existing, region);
    parts.laws.machines.watch(region);
    parts.machineFaults.watch(region);
    countMachines(state.figures, state.clock, region);
    state.regions.set(name, region);
  }
}

function followExisting(existing: Set<string>, region: SimCloud): void {
  region.onMade(({ machine }) => void existing.add(machine.name));
  region.onGone(({ machine }, how) => {
    if (how !== 'stopped') existing.delete(machine.name);
  });
}

function openRegion({ clock, draws }: WorldState, chance: Chance, name: string): SimCloud {
  const isLate = draws.rate('late-list') > 0;
  if (isLate) draws.count('late-list');
  return simCloud({
    clock,
    cloud: name,
    bootMs: () =>
      draws.strikes('slow-boot', chance) ? chance.ms(2 * MINUTE_MS, 12 * MINUTE_MS) : chance.ms(10_000, 50_000),
    answerMs: 200,
    listLagMs: isLate ? chance.ms(0, 8_000) : 0,
    dyingMs: chance.ms(1_000, 20_000),
    deletingMs: chance.ms(0, 10_000),
    keepsCalls: false,
    park: { most: MOST_PARKED },
  });
}

function scriptOf(
  { clock, draws, figures }: WorldState,
  chance: Chance,
  parts: RegionParts & { name: string },
): SimCloud['script'] {
  const crash = (): void => parts.crash('at a call');
  const script = cloudFaults({ clock, chance, draws, crash });
  return (call) => {
    count(figures, call.name);
    const point = parts.crashPoints.atCall();
    if (!point) return parts.scheduledFaults.ofCall(parts.name, call) ?? script(call);
    crash();
    return { is: 'hang', isDone: point.isDone };
  };
}

function count(figures: Figures, name: SimCallName): void {
  figures.calls[name] += 1;
}

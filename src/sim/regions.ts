import { MINUTE_MS } from '#core/clock.ts';
import type { Mark } from '#core/provider.ts';
import type { Arranged } from './arranged.ts';
import { type SimCallName, type SimCloud, simCloud } from './backend.ts';
import type { Chance } from './chance.ts';
import { cloudFaults } from './cloud-faults.ts';
import type { Crashes } from './crashes.ts';
import { countMachines, type Figures } from './figures.ts';
import type { Fleet } from './fleet.ts';
import type { Ground } from './ground.ts';
import type { Laws } from './laws/laws.ts';

export interface RegionParts {
  readonly laws: Laws;
  readonly fleet: Fleet;
  readonly crashes: Crashes;
  readonly arranged: Arranged;
  crash(why: string): void;
}

// Pools say how many they keep.
const MOST_PARKED = 100;

/** Opens one simulated cloud for each name; in each there is a machine that belongs to others. */
export function openRegions(ground: Ground, parts: RegionParts, names: Iterable<string>): void {
  for (const [nth, name] of [...new Set(names)].toSorted().entries()) {
    const chance = ground.chance('region', nth);
    const region = openRegion(ground, chance, name);
    region.script = scriptOf(ground, chance, { ...parts, name });
    const mark: Mark = { cluster: 'another', use: 'worker', owner: 'theirs', shape: 'theirs' };
    region.add({ name: `foreign-${name}`, mark, createdAt: ground.clock.now(), state: 'running' });
    followExisting(ground.existing, region);
    parts.laws.machines.watch(region);
    parts.fleet.watch(region);
    countMachines(ground.figures, ground.clock, region);
    ground.regions.set(name, region);
  }
}

function followExisting(existing: Set<string>, region: SimCloud): void {
  region.onMade(({ machine }) => void existing.add(machine.name));
  region.onGone(({ machine }, how) => {
    if (how !== 'stopped') existing.delete(machine.name);
  });
}

function openRegion({ clock, draws }: Ground, chance: Chance, name: string): SimCloud {
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
  { clock, draws, figures }: Ground,
  chance: Chance,
  parts: RegionParts & { name: string },
): SimCloud['script'] {
  const crash = (): void => parts.crash('at a call');
  const script = cloudFaults({ clock, chance, draws, crash });
  return (call) => {
    count(figures, call.name);
    const point = parts.crashes.atCall();
    if (!point) return parts.arranged.ofCall(parts.name, call) ?? script(call);
    crash();
    return { is: 'hang', isDone: point.isDone };
  };
}

function count(figures: Figures, name: SimCallName): void {
  figures.calls[name] += 1;
}

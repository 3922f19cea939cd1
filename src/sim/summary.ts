import { HOUR_MS } from '#core/clock.ts';
import { quantile } from './figures.ts';
import { INVARIANTS, type Invariant } from './invariants.ts';
import type { SeededWorld } from './seeded-world.ts';

const number = (value: number): string => Math.round(value).toLocaleString('en');
const seconds = (ms: number): string => `${(ms / 1_000).toLocaleString('en', { maximumFractionDigits: 2 })} s`;
const times = (counts: Iterable<readonly [string, number]>): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${number(count)}`)
    .join(' · ');

const WIDTH = 13;
const line = (title: string, text: string): string => `${title.padEnd(WIDTH)}${text}`;

function sessionLines({ figures, laws, load }: SeededWorld): string[] {
  const { ends } = laws.sessions;
  const ended = [...ends.values()].reduce((sum, count) => sum + count, 0);
  const [half, most] = [quantile(figures.waitsMs, 0.5), quantile(figures.waitsMs, 0.99)];
  return [
    line(
      'Sessions',
      `accepted ${number(figures.accepted)} · ended ${number(ended)} (${times(ends)}) · turned away ${number(load.turnedAway)}`,
    ),
    line('Starts', `${number(figures.starts)} · wait for the first p50 ${seconds(half)}, p99 ${seconds(most)}`),
  ];
}

function machineLines({ figures }: SeededWorld): string[] {
  const { launched, deleted, died, machineMs, neededMs } = figures;
  const share = machineMs === 0 ? 0 : Math.round((100 * neededMs) / machineMs);
  return [
    line('Machines', `launched ${number(launched)} · deleted ${number(deleted)} · ended by themselves ${number(died)}`),
    line(
      'Worker hours',
      `${number(machineMs / HOUR_MS)} used · ${number(neededMs / HOUR_MS)} needed by sessions (${share} %)`,
    ),
  ];
}

function serverLines({ figures, points }: SeededWorld): string[] {
  const { calls, crashes, lateMachines, decisions } = figures;
  return [
    line('Events', times(figures.events)),
    line('Decisions', times(decisions)),
    line(
      'Server',
      `crashes survived ${number(crashes)} · machines made for a server that was no more ${number(lateMachines)} · commits ${number(points.commit)} · passes ${number(figures.passes)}`,
    ),
    line('Calls', times(Object.entries(calls))),
  ];
}

/** What a world came to; the same for the same seed, whatever computer it ran on. */
export function summaryOf(world: SeededWorld): string[] {
  const looks = Object.entries(world.invariants.looks) as [Invariant, number][];
  return [
    ...sessionLines(world),
    ...machineLines(world),
    ...serverLines(world),
    line('Required', times(Object.entries(world.figures.requiredEvents))),
    line('Faults', times(world.draws.counts) || 'none'),
    'Invariants, and how often each was looked at',
    ...looks.map(([name, count]) => `  ${INVARIANTS[name]}: ${number(count)}`),
  ];
}

// The first calm spell must have lasted long enough, and each kind of thing must have happened.
const LONG_ENOUGH_MS = 3 * HOUR_MS;

/** Invariants that this world never put to the test: a run that looks at nothing proves nothing. */
export function neverLookedAt({ invariants, clock, figures }: SeededWorld): Invariant[] {
  if (invariants.firstBreak || clock.monotonic() < LONG_ENOUGH_MS || figures.accepted === 0) return [];
  return (Object.keys(INVARIANTS) as Invariant[]).filter((name) => invariants.looks[name] === 0);
}

/** Why it broke, and what came before. */
export function breakOf(world: SeededWorld, count: number): string[] {
  const { firstBreak } = world.invariants;
  if (!firstBreak) return [];
  return [
    `BROKEN: ${INVARIANTS[firstBreak.invariant]}`,
    `  ${firstBreak.message}`,
    '',
    `The last ${count} events`,
    ...world.eventLog.last(count).map((event) => `  ${event}`),
  ];
}

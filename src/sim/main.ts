// `npm run sim`: days of load and faults in seconds, from a seed, with every invariant looked at on the way.
import { systemClock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { runWorld } from './day.ts';
import { INVARIANTS } from './invariants.ts';
import { neverHappened, REQUIRED_EVENTS, type RequiredEvent, whyWithout } from './required-events.ts';
import type { SeededWorld } from './seeded-world.ts';
import { breakOf, neverLookedAt, summaryOf } from './summary.ts';

const EVENTS_SHOWN = 50;

const say = (lines: readonly string[]): void => console.log(lines.join('\n'));

/** What did not happen in this world, and why it could not. */
function withoutLines(world: SeededWorld): string[] {
  return (Object.keys(REQUIRED_EVENTS) as RequiredEvent[]).flatMap((name) => {
    const why = world.figures.requiredEvents[name] === 0 ? whyWithout(world, name) : undefined;
    return why === undefined ? [] : [`Not here: ${REQUIRED_EVENTS[name]} (${why}).`];
  });
}

async function run(options: Arguments, seed: number): Promise<boolean> {
  const { hours, pools, sessionsPerPoolHour, faults, replaysAll } = options;
  const startMs = systemClock.monotonic();
  const world = await runWorld({ seed, pools, sessionsPerPoolHour, faults, replaysAll }, hours);
  const tookS = (systemClock.monotonic() - startMs) / 1_000;
  const unseen = neverLookedAt(world);
  const missed = neverHappened(world);
  const isBroken = world.invariants.firstBreak !== undefined || unseen.length + missed.length > 0;
  const passes = Math.round(world.figures.passes / tookS).toLocaleString('en');
  say([
    `Seed ${seed}: ${pools} pools for ${hours} simulated hours`,
    ...summaryOf(world),
    `Took         ${tookS.toFixed(1)} s, ${passes} passes a second`,
    isBroken ? '' : 'All invariants held.',
    ...unseen.map((name) => `NEVER LOOKED AT: ${INVARIANTS[name]}`),
    ...missed.map((name) => `NEVER HAPPENED: ${REQUIRED_EVENTS[name]}`),
    ...withoutLines(world),
    ...breakOf(world, EVENTS_SHOWN),
    '',
  ]);
  return isBroken;
}

async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2));
  if (options.isHelp) return say([USAGE]);
  const broken: number[] = [];
  for (let seed = options.seed; seed < options.seed + options.runs; seed++) {
    if (await run(options, seed)) broken.push(seed);
  }
  if (broken.length === 0) return;
  say([`Broken: seed ${broken.join(', ')}. The same seed and options show it again.`]);
  process.exitCode = 1;
}

try {
  await main();
} catch (thrown) {
  const fault = Fault.from(thrown);
  console.error(`${fault.at === undefined ? '' : `${fault.at}: `}${fault.message}\n${fault.remedy}`);
  if (fault.kind === 'internal') console.error(fault.cause);
  process.exitCode = FAULTS[fault.kind].exit;
}

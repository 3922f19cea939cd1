import { runWorld } from './day.ts';
import { parseFaults } from './faults.ts';

const [seed, hours, pools, faults, rate, scale, grep, count] = process.argv.slice(2);
const base = parseFaults(faults ?? 'all');
const f = Object.fromEntries(
  Object.entries(base).map(([k, v]) => [k, k === 'late-list' ? v : v * Number(scale)]),
) as typeof base;
const w = await runWorld(
  { seed: Number(seed), pools: Number(pools), faults: f, sessionsPerPoolHour: Number(rate) },
  Number(hours),
);
const re = new RegExp(grep || '.');
console.log(
  w.happenings
    .last(4000)
    .filter((l) => re.test(l))
    .slice(-Number(count ?? 60))
    .join('\n'),
);

import { runWorld } from './day.ts';
import { FAULT_RATES, NO_FAULTS, parseFaults } from './faults.ts';

const [from, to, hours, pools, faults, rate, scale] = process.argv.slice(2);
const base = parseFaults(faults ?? 'all');
const f = scale
  ? (Object.fromEntries(
      Object.entries(base).map(([k, v]) => [k, k === 'late-list' ? v : v * Number(scale)]),
    ) as typeof base)
  : base;
let bad = 0;
for (let seed = Number(from); seed <= Number(to); seed++) {
  const t = performance.now();
  const w = await runWorld(
    { seed, pools: Number(pools ?? 5), faults: f, sessionsPerPoolHour: Number(rate ?? 40) },
    Number(hours ?? 4),
  );
  const b = w.invariants.firstBreak;
  if (b) bad++;
  console.log(
    seed,
    b ? `BROKEN ${b.invariant} at ${b.atMs}: ${b.message}` : 'ok',
    `crashes ${w.figures.crashes} accepted ${w.figures.accepted} starts ${w.figures.starts}`,
    (performance.now() - t).toFixed(0),
    'ms',
  );
}
console.log('bad', bad);

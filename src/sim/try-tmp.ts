import { runWorld } from './day.ts';
import { FAULT_RATES, NO_FAULTS, parseFaults } from './faults.ts';

const seed = Number(process.argv[2] ?? 1),
  hours = Number(process.argv[3] ?? 2),
  pools = Number(process.argv[4] ?? 5);
const t = performance.now();
const w = await runWorld(
  {
    seed,
    pools,
    faults: parseFaults(process.argv[5] ?? 'none'),
    ...(process.argv[6] ? { sessionsPerPoolHour: Number(process.argv[6]) } : {}),
  },
  hours,
);
console.log(w.invariants.firstBreak ? w.happenings.last(4000).join('\n') : 'ok');
console.log(
  w.invariants.looks,
  { ...w.figures, waitsMs: w.figures.waitsMs.length },
  w.laws.sessions.ends,
  w.weather.counts,
);
console.log((performance.now() - t).toFixed(0), 'ms');

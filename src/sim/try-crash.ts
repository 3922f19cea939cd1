import { NO_FAULTS, onlyFaults } from './faults.ts';
import { diskWithSecrets, runScript } from './scripted.ts';

const disk = await diskWithSecrets();
for (const faults of [NO_FAULTS, onlyFaults('lost-reply', 'late-list', 'slow-disk', 'partial-reply')]) {
  let t = performance.now();
  const w = await runScript({ disk, faults });
  console.log(
    w.invariants.firstBreak,
    w.points,
    w.figures.starts,
    w.figures.launched,
    w.clock.monotonic() / 1000,
    performance.now() - t,
  );
  const ats = ['commit', 'call', 'message'] as const;
  t = performance.now();
  let n = 0;
  const bad: string[] = [];
  for (const at of ats)
    for (let nth = 1; nth <= w.points[at]; nth++)
      for (const isDone of [false, true]) {
        const r = await runScript({ disk, faults, crashAt: { at, nth, isDone } });
        n++;
        if (r.invariants.firstBreak || r.figures.crashes !== 1) {
          bad.push(`${at} ${nth} ${isDone} ${r.figures.crashes} ${JSON.stringify(r.invariants.firstBreak)}`);
        }
      }
  console.log(n, 'points', ((performance.now() - t) / n).toFixed(2), 'ms each', bad.length);
  console.log(bad.slice(0, 10).join('\n'));
}

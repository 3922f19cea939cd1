// npm run bench:pools [-- FILE] [--json]: what policies of size cost and keep waiting, those of peers among them. The file is
// a pod list of cluster-trace-gpu-v2023, which is not part of this project.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { POLICIES, runPolicy } from './pools/compare.ts';
import { flat, type NamedDemand, nightlyBatch, officeHours } from './pools/demands.ts';
import { readTrace } from './replay/trace.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { days: { type: 'string', default: '40' }, json: { type: 'boolean', default: false } },
});

function recorded(file: string, days: number): NamedDemand {
  const tasks = readTrace(readFileSync(file, 'utf8'), { days, copies: 1 });
  const arrivals = tasks.map(({ atMs, runMs }) => ({ atMs, lastsMs: runMs }));
  return { name: `recorded, ${days} days`, fromMs: 0, untilMs: days * DAY_MS, arrivals };
}

const WIDTHS = [40, 12, 10, 8, 8, 10];
const line = (cells: readonly string[]): string =>
  `${cells.map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(' ')}\n`;
const seconds = (ms: number): number => Math.round(ms / SECOND_MS);

const demands = [
  officeHours(),
  nightlyBatch(),
  flat(),
  ...positionals.map((file) => recorded(file, Number(values.days))),
];
for (const demand of demands) {
  if (!values.json) {
    process.stdout.write(`\n${demand.name}: ${demand.arrivals.length} sessions\n`);
    process.stdout.write(line(['', 'dollars', 'paid/used', 'p50 s', 'p95 s', 'launches']));
  }
  for (const policy of POLICIES) {
    const { dollars, paidPerUsed, p50Ms, p95Ms, launches } = runPolicy(policy, demand);
    const figures = {
      ...{ dollars: Math.round(dollars), paidPerUsed: Number(paidPerUsed.toFixed(3)) },
      ...{ p50: seconds(p50Ms), p95: seconds(p95Ms), launches },
    };
    const cells = [policy.name, ...Object.values(figures).map(String)];
    const object = { demand: demand.name, policy: policy.name, ...figures };
    process.stdout.write(values.json ? `${JSON.stringify(object)}\n` : line(cells));
  }
}

// npm run bench:nodes -- FILE [--copies 10] [--days 40] [--json]: a recorded GPU workload under this controller, and under
// the rules of its peers. The file is a pod list of cluster-trace-gpu-v2023, which is not part of this project.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { isPolicy, readPolicy } from '../src/nodes/policy.ts';
import { percentile } from './parts/numbers.ts';
import { type Policy, replay, type Totals } from './replay/fleet.ts';
import { muster } from './replay/muster.ts';
import { readTrace } from './replay/trace.ts';
import { clusterAutoscaler, karpenter } from './replay/when-empty.ts';

function ofMuster(name: string, spec: object): Policy {
  const policy = readPolicy({ existingInstanceGroupNames: ['g'], ...spec });
  if (!isPolicy(policy)) throw new Fault('internal', `The spec of "${name}" is not valid.`);
  return muster(name, policy);
}

const MOVES = { defragmentation: { mode: 'act' } };

const POLICIES: readonly (() => Policy)[] = [
  clusterAutoscaler,
  karpenter,
  () => ofMuster('Muster, no idle node, 30 s', { minUnutilizedGPUNodes: 0, scaleDownDelay: 30 }),
  () => ofMuster('Muster, no idle node, 10 min', { minUnutilizedGPUNodes: 0 }),
  () => ofMuster('Muster, no idle node, moves', { minUnutilizedGPUNodes: 0, scaleDownDelay: 30, ...MOVES }),
  () => ofMuster('Muster, one idle node, 30 s', { minUnutilizedGPUNodes: 1, scaleDownDelay: 30 }),
  () => ofMuster('Muster, one idle node, 10 min', { minUnutilizedGPUNodes: 1 }),
  () => ofMuster('Muster, one idle node, moves', { minUnutilizedGPUNodes: 1, scaleDownDelay: 30, ...MOVES }),
  () => ofMuster('Muster, 80 % and two idle nodes', { minGPUUtilizationPercent: 80, minUnutilizedGPUNodes: 2 }),
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    copies: { type: 'string', default: '1' },
    days: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
});
const [file] = positionals;
if (file === undefined) {
  process.stderr.write('Name the file of the workload: npm run bench:nodes -- FILE\n');
  process.exit(2);
}

const WIDTHS = [34, 8, 10, 8, 8, 8, 8];
const line = (cells: readonly string[]): string =>
  `${cells.map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(' ')}\n`;

function figuresOf({ nodesAsked, paidGpuMs, usedGpuMs, moves, waitsMs }: Totals) {
  const wait = (share: number): number => Math.round(percentile(waitsMs, share) / SECOND_MS);
  return {
    nodesAsked,
    moves,
    usedGpuHours: Math.round(usedGpuMs / HOUR_MS),
    paidPerUsed: Number((paidGpuMs / usedGpuMs).toFixed(3)),
    p50: wait(0.5),
    p95: wait(0.95),
    p99: wait(0.99),
  };
}

const tasks = readTrace(readFileSync(file, 'utf8'), { days: Number(values.days), copies: Number(values.copies) });
if (!values.json) {
  process.stdout.write(`${tasks.length} tasks of ${values.days} days, ${values.copies} at once\n\n`);
  process.stdout.write(line(['', 'nodes', 'paid/used', 'p50 s', 'p95 s', 'p99 s', 'moves']));
}
for (const make of POLICIES) {
  const policy = make();
  const figures = figuresOf(await replay(tasks, policy, new VirtualClock()));
  const { nodesAsked, paidPerUsed, p50, p95, p99, moves } = figures;
  const cells = [policy.name, ...[nodesAsked, paidPerUsed, p50, p95, p99, moves].map(String)];
  process.stdout.write(values.json ? `${JSON.stringify({ policy: policy.name, ...figures })}\n` : line(cells));
}

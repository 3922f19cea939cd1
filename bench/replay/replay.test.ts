import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { isPolicy, type Policy as NodePolicy, readPolicy } from '../../src/nodes/policy.ts';
import { type Policy, replay } from './fleet.ts';
import { muster } from './muster.ts';
import { readTrace, type Task } from './trace.ts';
import { clusterAutoscaler, karpenter } from './when-empty.ts';

const task = (name: string, gpus: number, atMs: number, runMs: number): Task => ({ name, gpus, atMs, runMs });

function ofMuster(spec: object): Policy {
  const policy = readPolicy({ existingInstanceGroupNames: ['g'], ...spec });
  expect(isPolicy(policy)).toBe(true);
  return muster('muster', policy as NodePolicy);
}

it.each([
  ['Cluster Autoscaler', clusterAutoscaler, 10 * MINUTE_MS],
  ['Karpenter', karpenter, 30 * SECOND_MS],
  ['Muster', () => ofMuster({ minUnutilizedGPUNodes: 0, scaleDownDelay: 60 }), MINUTE_MS],
])(
  'a replay by the rule of %s pays for the boot, the task, and the time for which an empty node stays',
  async (_, policy, emptyMs) => {
    const tasks = [task('a', 8, 0, HOUR_MS), task('b', 4, 2 * HOUR_MS, HOUR_MS)];
    const { nodesAsked, paidGpuMs, usedGpuMs, waitsMs } = await replay(tasks, policy(), new VirtualClock());
    const least = 8 * (2 * HOUR_MS + 8 * MINUTE_MS + emptyMs);

    expect(nodesAsked).toBe(2);
    expect(usedGpuMs).toBe(12 * HOUR_MS);
    expect(paidGpuMs / least).toBeCloseTo(1, 2);
    expect(waitsMs.map((ms) => Math.floor(ms / MINUTE_MS))).toEqual([4, 4]);
  },
);

it('an idle node that is kept takes the next task at once', async () => {
  const tasks = [task('a', 8, 0, HOUR_MS), task('b', 8, HOUR_MS / 2, HOUR_MS)];
  const { waitsMs } = await replay(tasks, ofMuster({ minUnutilizedGPUNodes: 1 }), new VirtualClock());

  expect(waitsMs.at(-1)).toBe(0);
});

it('with moves a node whose tasks fit on another is given back, and each task moved runs on after a minute', async () => {
  // Both nodes are half free once the first two tasks have ended.
  const tasks = [
    task('a', 6, 0, HOUR_MS),
    task('b', 6, 0, HOUR_MS),
    task('c', 2, 1, 9 * HOUR_MS),
    task('d', 2, 2, 9 * HOUR_MS),
  ];
  const totals = async (mode: string) =>
    replay(
      tasks,
      ofMuster({ minUnutilizedGPUNodes: 0, scaleDownDelay: 30, defragmentation: { mode } }),
      new VirtualClock(),
    );
  const [stays, moves] = [await totals('plan'), await totals('act')];

  expect([stays.moves, moves.moves, moves.nodesAsked]).toEqual([0, 1, 2]);
  expect(moves.usedGpuMs).toBe(stays.usedGpuMs);
  expect(moves.waitsMs).toHaveLength(tasks.length);
  // Of 18 hours of nodes with one task, eight are saved.
  const savedMs = (stays.paidGpuMs - moves.paidGpuMs) / 8;
  expect(savedMs / HOUR_MS).toBeGreaterThan(7.9);
  expect(savedMs / HOUR_MS).toBeLessThan(8);
});

const TRACE = `name,cpu_milli,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time
early,1,1,500,0,90000,10
late,1,8,1000,200000,259200,200005
never,1,1,1000,200000,259200,
cpu,1,0,0,200000,259200,200005
`;

it('tasks are read that ask for GPUs, ran, and did not end before the last days', () => {
  const [first, second, ...others] = readTrace(TRACE, { days: 2, copies: 1 });

  expect(others).toEqual([]);
  expect(first).toMatchObject({ name: 'early-0', gpus: 1, atMs: 0, runMs: (90_000 - 86_400) * SECOND_MS });
  expect(second).toMatchObject({ name: 'late-0', gpus: 8, runMs: (259_200 - 200_005) * SECOND_MS });
});

it('copies are shifted around the span, with the same GPU hours each', () => {
  const gpuMs = (copies: number): number =>
    readTrace(TRACE, { days: 2, copies }).reduce((sum, { gpus, runMs }) => sum + gpus * runMs, 0);

  expect(gpuMs(4)).toBe(4 * gpuMs(1));
});

// How many nodes of a small cluster can be emptied at the most, by trying all sets of them, beside what the planner finds.
import fc from 'fast-check';
import { openEmptying } from '../simulation/emptying.ts';
import { addTo } from '../simulation/room.ts';
import { classOf, GPU, ROOMY, roomOf } from './objects.ts';

/** GPUs of each pod, by node; a node has eight. */
export type Load = readonly (readonly number[])[];

const NODE_GPUS = 8;
const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);

/** Whether all of them fit, the largest first; rooms with the same room are tried once. */
function fits(pods: readonly number[], free: readonly number[]): boolean {
  const [pod, ...rest] = pods;
  if (pod === undefined) return true;
  if (sum(pods) > sum(free)) return false;
  return [...new Set(free)]
    .filter((room) => room >= pod)
    .some((room) => fits(rest, free.with(free.indexOf(room), room - pod)));
}

/** Exact: every set of nodes is tried. */
export function mostFreeable(load: Load): number {
  let most = 0;
  for (let set = 1; set < 2 ** load.length; set++) {
    const isFreed = (at: number): boolean => (set & (1 << at)) !== 0;
    const freed = load.filter((_, at) => isFreed(at));
    if (freed.length <= most) continue;
    const free = load.filter((_, at) => !isFreed(at)).map((pods) => NODE_GPUS - sum(pods));
    if (
      fits(
        freed.flat().toSorted((a, b) => b - a),
        free,
      )
    )
      most = freed.length;
  }
  return most;
}

/** What the planner empties: nodes by the GPUs in use. */
export function freedOf(load: Load): number {
  const nodes = load.map((gpus, at) => {
    const room = roomOf(`n${at}`, { free: { ...ROOMY } });
    const pods = gpus.map((many, index) => ({ key: `p${at}-${index}`, class: classOf({ gpus: many }) }));
    for (const pod of pods) addTo(room, pod.class);
    return { room, pods, used: sum(gpus) };
  });
  const emptying = openEmptying({ rooms: nodes.map(({ room }) => room), others: [], gpu: GPU });
  const ordered = nodes.toSorted((a, b) => a.used - b.used);
  return ordered.filter(({ room, pods }) => emptying.empty(room, pods) === undefined).length;
}

const pod = fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 5, 8);
/** As many of the pods as fit on one node. */
const nodeOf = (mostPods: number) =>
  fc.array(pod, { minLength: 1, maxLength: mostPods }).map((pods) => {
    let left = NODE_GPUS;
    return pods.filter((gpus) => {
      if (gpus > left) return false;
      left -= gpus;
      return true;
    });
  });
/** Clusters from nearly empty to nearly full. */
export const loads: fc.Arbitrary<Load> = fc
  .constantFrom(2, 3, 6)
  .chain((mostPods) => fc.array(nodeOf(mostPods), { minLength: 2, maxLength: 10 }));

/** Over so many random clusters: nodes freed, and nodes that could have been. */
export function freedOfAll(cases: number): { readonly freed: number; readonly possible: number } {
  const totals = { freed: 0, possible: 0 };
  for (const load of fc.sample(loads, { numRuns: cases, seed: 1 })) {
    totals.freed += freedOf(load);
    totals.possible += mostFreeable(load);
  }
  return totals;
}

import { type Fleet, GPUS_PER_NODE } from './fleet.ts';

/** How many nodes the tasks need that wait, beyond those that are there or come: the largest first, where least is left. */
export function missingNodes({ nodes, waiting }: Fleet): number {
  const free = [...nodes].filter(({ isClosed }) => !isClosed).map((node) => node.free);
  const there = free.length;
  const sizes = [...waiting].map(({ gpus }) => gpus).toSorted((a, b) => b - a);
  for (const gpus of sizes) {
    const fits = free.filter((left) => left >= gpus);
    const at = fits.length > 0 ? free.indexOf(Math.min(...fits)) : free.push(GPUS_PER_NODE) - 1;
    free[at] = (free[at] ?? 0) - gpus;
  }
  return free.length - there;
}

import type { Disk } from '#store/memory.ts';

/** Every machine that a launch was committed for, sorted. */
export function namesAskedFor({ histories }: Disk): readonly string[] {
  const asked = histories.events.filter(({ kind }) => kind === 'worker.asked');
  return asked.flatMap(({ fields }) => fields?.names as readonly string[]).toSorted();
}

/** Every machine in the history, sorted, once for each time that it stands there. */
export function namesEnded({ histories }: Disk): readonly string[] {
  return histories.endedMachines.map(({ machine }) => machine).toSorted();
}

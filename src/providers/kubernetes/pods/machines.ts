// What is read from the pods of one view. A cluster is listed through whichever of its backends was opened last: a memory
// of each would hold every pod once for each pool.
import type { Machine } from '#core/provider.ts';
import { machineOf, type Pod } from './machine.ts';
import { openSlowStarts, type SlowStarts, type SlowStartsDeps } from './slow-start.ts';

export interface PodMachines {
  /** The same machine for the same pod: what has not changed is not compared again by anyone. */
  of(pod: Pod, schedulingTimeoutMs: number): Machine;
  readonly slowStarts: SlowStarts;
}

export interface PodMachinesDeps extends SlowStartsDeps {
  /** The map of a view, which all who read the same view share. */
  readonly pods: ReadonlyMap<string, Pod>;
}

// Goes with the view.
const OPENED = new WeakMap<ReadonlyMap<string, Pod>, PodMachines>();

/** The one memory of that view. */
export function podMachines(deps: PodMachinesDeps): PodMachines {
  const known = OPENED.get(deps.pods);
  if (known) return known;
  const opened = openPodMachines(deps);
  OPENED.set(deps.pods, opened);
  return opened;
}

function openPodMachines(deps: SlowStartsDeps): PodMachines {
  const slowStarts = openSlowStarts(deps);
  const kept = new WeakMap<Pod, Machine>();
  return {
    slowStarts,
    of(pod, schedulingTimeoutMs) {
      const known = kept.get(pod);
      if (known) return known;
      const reading = { waitedMs: slowStarts.waitedMs(pod), schedulingTimeoutMs, found: slowStarts.of(pod) };
      const machine = machineOf(pod, reading);
      // Until a pod runs, the time that passes and its events count too.
      if (machine.state !== 'creating') kept.set(pod, machine);
      return machine;
    },
  };
}

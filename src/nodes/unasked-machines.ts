// Machines of a group that never became nodes and that this server did not ask for: named once each, never deleted.
import type { Change } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { nodePoolSubject } from './reasons.ts';

export interface UnaskedMachines {
  /** What to write down of those that were not named yet. */
  observe(name: string, machines: readonly string[]): readonly Change[];
  forget(name: string): void;
}

export function openUnaskedMachines(journal: Journal): UnaskedMachines {
  const named = new Map<string, ReadonlySet<string>>();
  return {
    observe(name, machines) {
      const before = named.get(name);
      named.set(name, new Set(machines));
      return machines
        .filter((machine) => !before?.has(machine))
        .map((machine) => {
          const message = `The machine ${machine} is no node, and Muster did not ask for it. It is left alone.`;
          return journal.event({ kind: 'node-group.unknown-machine', subject: nodePoolSubject(name), message });
        });
    },
    forget: (name) => void named.delete(name),
  };
}

import { Fault } from '#core/fault.ts';
import type { Backend, Machine } from '#core/provider.ts';
import { markOf } from '../vm/marks.ts';
import { CONTAINERS_VERSION } from './api.ts';
import { findGroup, type Groups, groupPath, listGroups, type Place } from './place.ts';

// Marks do not change, and names are never used again: a listing of this age still tells whose a group is.
const FRESH_MS = 10_000;

export function removerOf(place: Place): Backend['delete'] {
  const { arm, cluster } = place;

  /** Its address and its containers go with it: a group has nothing beside itself. */
  async function removeOne({ name, mark }: Machine, groups: Groups, signal: AbortSignal): Promise<void> {
    const refusal = new Fault('denied', `${name} is not a container group of this cluster.`);
    if (mark?.cluster !== cluster) throw refusal;
    // A listing may not show it yet, or no longer.
    const group = groups.get(name) ?? (await findGroup(place, name, signal));
    if (!group) return;
    if (markOf(group)?.cluster !== cluster) throw refusal;
    if (/^deleting$/i.test(group.properties.provisioningState)) return;
    const request = { method: 'DELETE', path: groupPath(place, name), apiVersion: CONTAINERS_VERSION } as const;
    await arm.ask(request, signal).catch((thrown) => {
      if (Fault.from(thrown).kind !== 'missing') throw thrown;
    });
  }

  return async (machines, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const groups = await listGroups(place, FRESH_MS, signal);
    const outcomes = machines.map((machine) =>
      removeOne(machine, groups, signal).then(
        () => ({ name: machine.name }),
        (thrown) => ({ name: machine.name, fault: Fault.from(thrown) }),
      ),
    );
    return Promise.all(outcomes);
  };
}

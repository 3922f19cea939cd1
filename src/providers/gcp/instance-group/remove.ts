import { Fault } from '#core/fault.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import type { ManagedInstance } from '../compute/api.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { type Group, listGroup } from './group.ts';

/** As the call wants it: `zones/us-central1-a/instances/m-1`. */
function targetOf({ place }: Group, managed: ManagedInstance): string {
  const inUrl = /zones\/[^/]+\/instances\/[^/]+$/.exec(managed.instance ?? '')?.[0];
  return inUrl ?? `${place}/instances/${instanceNameOf(managed)}`;
}

/** Takes instances out of the group and deletes them; the group becomes that much smaller, and nobody else is hit. */
export function removerOf(group: Group): Backend['delete'] {
  const { compute, cluster, path } = group;
  return async (machines, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const marked = await listGroup(group, signal);
    const isOurs = ({ name, mark }: Machine): boolean =>
      mark?.cluster === cluster && (marked.get(name)?.mark.cluster ?? cluster) === cluster;
    const doomed = machines.filter(isOurs).flatMap(({ name }) => marked.get(name)?.managed ?? []);
    if (doomed.length > 0) {
      const instances = doomed.map((managed) => targetOf(group, managed));
      const body = { instances, skipInstancesOnValidationError: true };
      await compute.ask({ method: 'POST', path: `${path}/deleteInstances`, body }, signal);
    }
    return machines.map((machine): Outcome => {
      const { name } = machine;
      if (isOurs(machine)) return { name };
      return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
    });
  };
}

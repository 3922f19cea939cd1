import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { nameWithMark } from '#core/mark-name.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import { type GroupResource, lastPart, type ManagedInstance } from '../compute/api.ts';
import { instanceNameOf, readInstance } from '../compute/marks.ts';
import { findInstance } from '../instance/listing.ts';
import { type Group, listGroup } from './group.ts';

/** As the call wants it: `zones/us-central1-a/instances/m-1`. */
function targetOf({ place }: Group, managed: ManagedInstance): string {
  const inUrl = /zones\/[^/]+\/instances\/[^/]+$/.exec(managed.instance ?? '')?.[0];
  return inUrl ?? `${place}/instances/${instanceNameOf(managed)}`;
}

/** The zones in which the group has instances. */
async function zonesOf({ compute, path, place }: Group, signal: AbortSignal): Promise<readonly string[]> {
  const [places, at = ''] = place.split('/');
  if (places === 'zones') return [at];
  return compute.keep(`zones ${path}`, HOUR_MS, async () => {
    const { distributionPolicy } = await compute.ask<GroupResource>({ path }, signal);
    return (distributionPolicy?.zones ?? []).map(({ zone }) => lastPart(zone));
  });
}

/** What Compute Engine may call it: the worker's name, that name with the mark, its id. */
function keysOf({ name, mark, id }: Machine): readonly string[] {
  const ids = id === undefined ? [] : [id];
  try {
    return mark ? [name, nameWithMark(name, mark), ...ids] : [name, ...ids];
  } catch {
    return [name, ...ids];
  }
}

const notOurs = (name: string): Fault => new Fault('denied', `${name} is not a machine of this cluster.`);

/** Takes instances out of the group and deletes them; the group becomes that much smaller, and nobody else is hit. */
export function removerOf(group: Group): Backend['delete'] {
  const { compute, cluster, path } = group;

  function deleteInstances(instances: readonly string[], isLenient: boolean, signal: AbortSignal): Promise<unknown> {
    const body = { instances, ...(isLenient && { skipInstancesOnValidationError: true }) };
    return compute.ask({ method: 'POST', path: `${path}/deleteInstances`, body }, signal);
  }

  /** A listing may be late or lack marks. Only Compute Engine itself says that an instance is gone. */
  async function removeUnlisted(machine: Machine, signal: AbortSignal): Promise<void> {
    for (const zone of await zonesOf(group, signal)) {
      for (const name of keysOf(machine)) {
        const instance = await findInstance(compute, { zone, name }, signal);
        if (!instance) continue;
        if (readInstance(instance)?.mark.cluster !== cluster) throw notOurs(machine.name);
        // Not lenient: an instance that runs outside the group would be skipped.
        await deleteInstances([`zones/${zone}/instances/${instance.name}`], false, signal);
        return;
      }
    }
  }

  return async (machines, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const marked = await listGroup(group, signal);
    const isOurs = ({ name, mark }: Machine): boolean =>
      mark?.cluster === cluster && (marked.get(name)?.mark.cluster ?? cluster) === cluster;
    const doomed = machines.filter(isOurs).flatMap(({ name }) => marked.get(name)?.managed ?? []);
    if (doomed.length > 0) {
      const targets = doomed.map((managed) => targetOf(group, managed));
      await deleteInstances(targets, true, signal);
    }
    const outcomes = machines.map(async (machine): Promise<Outcome> => {
      const { name } = machine;
      if (!isOurs(machine)) return { name, fault: notOurs(name) };
      if (marked.has(name)) return { name };
      return removeUnlisted(machine, signal).then(
        () => ({ name }),
        (thrown) => ({ name, fault: Fault.from(thrown) }),
      );
    });
    return Promise.all(outcomes);
  };
}

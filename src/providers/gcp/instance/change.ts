// Deleting, stopping and starting instances: one call each, since Compute Engine has none for several.
import { Fault } from '#core/fault.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import { type Instance, lastPart, type Operation } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { readLabels } from '../compute/marks.ts';
import { followed } from '../compute/operation.ts';
import { findInstance, listInstances } from './listing.ts';

const STARTED_WITHIN_MS = 100_000;

export function changerOf(compute: Compute, zone: string, cluster: string) {
  /** As Compute Engine has them: in the zone of the pool, or where else an instance without a worker was left. */
  async function targets(machines: readonly Machine[], signal: AbortSignal): Promise<ReadonlyMap<string, Instance>> {
    const here = await Promise.all(machines.map(({ name }) => findInstance(compute, { zone, name }, signal)));
    const found = new Map(here.flatMap((instance) => (instance ? [[instance.name, instance]] : [])));
    if (found.size === machines.length) return found;
    const all = await listInstances(compute, cluster, signal);
    return new Map([...all.map((instance) => [instance.name, instance] as const), ...found]);
  }

  /** By its id: a name may be given again. */
  async function changeOne(
    { id, zone: at }: Instance,
    what: 'delete' | 'stop' | 'start',
    signal: AbortSignal,
  ): Promise<Fault | undefined> {
    const place = `zones/${lastPart(at)}`;
    const path = `/${place}/instances/${id}${what === 'delete' ? '' : `/${what}`}`;
    const method = what === 'delete' ? 'DELETE' : 'POST';
    try {
      const operation = await compute.ask<Operation>({ method, path }, signal);
      // Only a start can turn out to have no room.
      const options = { place, what: `start of ${id} in ${place}`, withinMs: STARTED_WITHIN_MS };
      if (what === 'start') await followed(compute, operation, options, signal);
      return undefined;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      return fault.kind === 'missing' && what === 'delete' ? undefined : fault;
    }
  }

  return (what: 'delete' | 'stop' | 'start'): Backend['delete'] =>
    async (machines, signal) => {
      if (signal.aborted) throw new Fault('unavailable', `The call (${what}) was cancelled.`);
      const found = await targets(machines, signal);
      const changed = machines.map(async ({ name, mark }): Promise<Outcome> => {
        const instance = found.get(name);
        const isOurs = !instance || readLabels(instance.labels)?.cluster === cluster;
        if (mark?.cluster !== cluster || !isOurs)
          return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
        if (instance) return { name, fault: await changeOne(instance, what, signal) };
        return { name, fault: what === 'delete' ? undefined : new Fault('missing', `There is no instance ${name}.`) };
      });
      return Promise.all(changed);
    };
}

// Deleting, stopping and starting instances: one call each, since Compute Engine has none for several.
import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import { type Instance, lastPart, type Operation } from '../compute/api.ts';
import { readLabels } from '../compute/marks.ts';
import { followed } from '../compute/operation.ts';
import { type Account, findInstance, look } from './account.ts';

// Marks hardly ever change, and ids are never used again: a listing of this age still tells whose an instance is.
const FRESH_MS = 10_000;
const STARTED_WITHIN_MS = 100_000;

export type Change = 'delete' | 'stop' | 'start';

export function changerOf(account: Account) {
  const { compute, clock, cluster, promised } = account;

  async function targets(machines: readonly Machine[], signal: AbortSignal): Promise<ReadonlyMap<string, Instance>> {
    const { last } = account;
    const isFresh = last !== undefined && clock.monotonic() - last.startedMs <= FRESH_MS;
    const { byName } = isFresh ? last : await look(account, signal);
    const unlisted = machines.flatMap(({ name }) => {
      const { zone } = promised.get(name) ?? {};
      return byName.has(name) || zone === undefined ? [] : [{ name, zone }];
    });
    const found = await Promise.all(unlisted.map((one) => findInstance(account, one, signal)));
    const late = found.flatMap((instance) => (instance ? [[instance.name, instance] as const] : []));
    return new Map([...byName, ...late]);
  }

  /** By its id: a name may be given again. */
  async function changeOne({ id, zone }: Instance, what: Change, signal: AbortSignal): Promise<Fault | undefined> {
    const place = `zones/${lastPart(zone)}`;
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

  return async (what: Change, machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
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

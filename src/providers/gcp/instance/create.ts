// Names are ours, so a launch makes nothing twice: the request id is the same for each try, and a name exists once in a zone.
import { Fault } from '#core/fault.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import { checkEach } from '#rest/creations.ts';
import type { Operation } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { faultOfErrors } from '../compute/faults.ts';
import { readLabels } from '../compute/marks.ts';
import { requestIdFor } from '../compute/operation.ts';
import { advised } from '../compute/places.ts';
import type { InstanceConfig } from './config.ts';
import { imageOf } from './image.ts';
import { findInstance } from './listing.ts';
import { bodyFor } from './request.ts';

/** Whether a bulkInsert that is done made fewer than it was asked for; why not the others it does not say. */
function isShort({ instancesBulkInsertOperationMetadata: metadata }: Operation): boolean {
  return Object.values(metadata?.perLocationStatus ?? {}).some(
    ({ createdVmCount = 0, targetVmCount = createdVmCount }) => createdVmCount < targetVmCount,
  );
}

export function creatorOf(
  compute: Compute,
  config: InstanceConfig,
  cluster: string,
): Required<Pick<Backend, 'create' | 'check'>> {
  const { zone, machineType } = config;
  const place = `zones/${zone}`;

  const explained = (fault: Fault, signal: AbortSignal): Promise<Fault> =>
    advised(
      compute,
      fault,
      [
        { key: 'zone', written: zone, path: '/zones' },
        { key: 'machine_type', written: machineType, path: `/${place}/machineTypes` },
      ],
      signal,
    );

  /** Asks for these names by one call; the operation is that of all of them. */
  async function post(launch: Launch, names: readonly string[], signal: AbortSignal): Promise<Outcome[]> {
    const body = bodyFor(config, launch, { names, image: await imageOf(compute, config, signal) });
    const query = { requestId: requestIdFor(place, launch.id, ...names) };
    const path = `/${place}/instances/bulkInsert`;
    const { name: operation } = await compute.ask<Operation>({ method: 'POST', path, query, body }, signal);
    return names.map((name) => ({ name, operation: `${place}/operations/${operation}` }));
  }

  /** Which of the names there are now, by asking for each: listings are late. */
  async function existing(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = await Promise.all(names.map((name) => findInstance(compute, { zone, name }, signal)));
    for (const instance of found) {
      if (instance && readLabels(instance.labels)?.cluster !== cluster)
        throw new Fault('denied', `${instance.name} in ${zone} is not a machine of this cluster.`);
    }
    return new Set(found.flatMap((instance) => instance?.name ?? []));
  }

  function noRoom(short: number, all: number): Fault {
    const message = `${zone} had no room for ${short} of ${all} instances of ${machineType}.`;
    return new Fault('exhausted', message, { remedy: 'Wait, or offer another machine type or zone.' });
  }

  return {
    async create(launch, signal) {
      if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
      try {
        return await post(launch, launch.names, signal);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (fault.kind !== 'conflict') throw await explained(fault, signal);
        // A name that exists is refused: then only those that do not are asked for.
        const there = await existing(launch.names, signal);
        if (there.size === 0) throw fault;
        const missing = launch.names.filter((name) => !there.has(name));
        const asked = missing.length > 0 ? await post(launch, missing, signal) : [];
        return launch.names.map((name) => asked.find((one) => one.name === name) ?? { name });
      }
    },
    check: (pending, signal) =>
      checkEach(pending, signal, async (operation, names) => {
        const now = await compute.ask<Operation>({ path: `/${operation}` }, signal);
        if (now.status !== 'DONE') return names.map((name) => ({ name, operation }));
        if (!now.error && !isShort(now)) return names.map((name) => ({ name }));
        const there = await existing(names, signal);
        const fault = now.error
          ? await explained(faultOfErrors(`bulkInsert in ${zone}`, now.error.errors ?? []), signal)
          : noRoom(names.length - there.size, names.length);
        return names.map((name) => (there.has(name) ? { name } : { name, fault }));
      }),
  };
}

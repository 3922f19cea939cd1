// Names are ours, so a launch makes nothing twice: the request id is the same for each try, and a name exists once in a zone.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import type { Operation } from '../compute/api.ts';
import { readLabels } from '../compute/marks.ts';
import { followed, requestIdFor } from '../compute/operation.ts';
import { advised } from '../compute/places.ts';
import { type Account, findInstance } from './account.ts';
import type { InstanceConfig } from './config.ts';
import { bodyFor } from './request.ts';

// Below the time that a creation has. What becomes of one that takes longer the listings tell.
const DONE_WITHIN_MS = 100_000;

interface CreatorDeps {
  readonly account: Account;
  readonly config: InstanceConfig;
}

interface Asked {
  /** How many machines the operation did not make. */
  readonly short: number;
  /** Why it made none, where it says so. */
  readonly fault?: Fault;
}

export function creatorOf({ account, config }: CreatorDeps) {
  const { compute, clock, cluster, promised } = account;
  const { zone } = config;
  const place = `zones/${zone}`;

  const explained = (fault: Fault, signal: AbortSignal): Promise<Fault> =>
    advised(
      compute,
      fault,
      [
        { key: 'zone', written: zone, path: '/zones' },
        { key: 'machine_type', written: config.machineType, path: `/${place}/machineTypes` },
      ],
      signal,
    );

  async function post(launch: Launch, names: readonly string[], signal: AbortSignal): Promise<Asked> {
    const body = bodyFor(config, launch, { names, image: await account.image(config.image, signal) });
    const query = { requestId: requestIdFor(place, launch.id, ...names) };
    const path = `/${place}/instances/bulkInsert`;
    const operation = await compute.ask<Operation>({ method: 'POST', path, query, body }, signal);
    for (const name of names) promised.set(name, { zone, atMs: clock.monotonic() });
    const following = { place, what: `bulkInsert in ${zone}`, withinMs: DONE_WITHIN_MS };
    const done = await followed(compute, operation, following, signal).catch((thrown) => Fault.from(thrown));
    if (done instanceof Fault && isUnclear(done.kind)) throw done;
    if (done instanceof Fault) return { short: names.length, fault: done };
    const told = Object.values(done.instancesBulkInsertOperationMetadata?.perLocationStatus ?? {});
    const made = told.reduce((sum, { createdVmCount = 0 }) => sum + createdVmCount, 0);
    return { short: told.length === 0 ? 0 : names.length - made };
  }

  /** Which of the names there are now, by asking for each: listings are late. */
  async function existing(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = await Promise.all(names.map((name) => findInstance(account, { zone, name }, signal)));
    for (const instance of found) {
      if (instance && readLabels(instance.labels)?.cluster !== cluster)
        throw new Fault('denied', `${instance.name} in ${zone} is not a machine of this cluster.`);
    }
    return new Set(found.flatMap((instance) => instance?.name ?? []));
  }

  /** Some were made: the operation does not say which, and why not the others. */
  function noRoom({ names }: Launch, short: number): Fault {
    const message = `${zone} had no room for ${short} of ${names.length} instances of ${config.machineType}.`;
    return new Fault('exhausted', message, { remedy: 'Wait, or offer another machine type or zone.' });
  }

  /** A name that exists is refused: then only those that do not are asked for. */
  async function ensure(launch: Launch, signal: AbortSignal): Promise<Asked> {
    try {
      return await post(launch, launch.names, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'conflict') throw await explained(fault, signal);
      const there = await existing(launch.names, signal);
      const missing = launch.names.filter((name) => !there.has(name));
      if (there.size === 0) throw fault;
      return missing.length > 0 ? post(launch, missing, signal) : { short: 0 };
    }
  }

  return async (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
    const { short, fault } = await ensure(launch, signal);
    if (short <= 0) return launch.names.map((name) => ({ name }));
    const there = await existing(launch.names, signal);
    const refusal = fault ? await explained(fault, signal) : noRoom(launch, short);
    return launch.names.map((name) => {
      if (there.has(name)) return { name };
      promised.delete(name);
      return { name, fault: refusal };
    });
  };
}

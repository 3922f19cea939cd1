import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { ManagedInstance } from '../compute/api.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { type Group, lookSince } from './group.ts';

// Listings are late by seconds; what was promised longer ago and is in none does not exist.
const LISTED_WITHIN_MS = 60_000;

/** As the call wants it: `zones/us-central1-a/instances/m-1`. */
function targetOf({ place }: Group, managed: ManagedInstance): string {
  const inUrl = /zones\/[^/]+\/instances\/[^/]+$/.exec(managed.instance ?? '')?.[0];
  return inUrl ?? `${place}/instances/${instanceNameOf(managed)}`;
}

/** Takes instances out of the group and deletes them; the group becomes that much smaller, and nobody else is hit. */
export async function deleteInstances(
  group: Group,
  doomed: readonly ManagedInstance[],
  signal: AbortSignal,
): Promise<void> {
  const instances = doomed.map((managed) => targetOf(group, managed));
  const body = { instances, skipInstancesOnValidationError: true };
  await group.compute.ask({ method: 'POST', path: `${group.path}/deleteInstances`, body }, signal);
}

export function removerOf(group: Group) {
  const { clock, cluster, promised } = group;

  /** The mark of a name never changes: an older listing tells whose it is, only a new one that it is gone. */
  async function lookFor(machines: readonly Machine[], signal: AbortSignal) {
    const { last } = group;
    if (last && machines.every(({ name }) => last.marked.has(name))) return last;
    return lookSince(group, clock.monotonic(), signal);
  }

  return async (machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const ours = machines.filter(({ mark }) => mark?.cluster === cluster);
    const { marked } = await lookFor(ours, signal);
    const isOurs = ({ name }: Machine): boolean => marked.get(name)?.mark.cluster === cluster;
    const doomed = ours.filter(isOurs).flatMap(({ name }) => marked.get(name)?.managed ?? []);
    if (doomed.length > 0) await deleteInstances(group, doomed, signal);
    return machines.map((machine): Outcome => {
      const { name, mark } = machine;
      if (mark?.cluster !== cluster || (marked.has(name) && !isOurs(machine)))
        return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
      const promisedMs = promised.get(name);
      const isExpected = promisedMs !== undefined && clock.monotonic() - promisedMs < LISTED_WITHIN_MS;
      if (marked.has(name) || !isExpected) return { name };
      return { name, fault: new Fault('unavailable', `${name} is not listed by ${group.name} yet.`) };
    });
  };
}

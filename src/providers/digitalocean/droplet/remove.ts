import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Droplet } from '../api.ts';
import { listDroplets } from './listing.ts';
import { endingTag, markOf } from './marks.ts';

// With more than these, two calls that delete by a tag are far fewer than one call for each.
const ONE_BY_ONE = 5;
// Marks do not change, and ids are never used again: a listing of this age still tells whose a droplet is.
const FRESH_MS = 10_000;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

export function removerOf(api: CloudClient, cluster: string): Backend['delete'] {
  const ending = endingTag(cluster);
  const isOurs = (droplet: Droplet): boolean => markOf(droplet)?.cluster === cluster;
  const isTagged = ({ tags }: Droplet): boolean => tags.includes(ending);

  async function byId(id: string, signal: AbortSignal): Promise<Droplet[]> {
    const asked = api.ask<{ droplet: Droplet }>({ path: `/droplets/${id}` }, signal);
    return asked.then(
      ({ droplet }) => [droplet],
      (thrown) => {
        if (isAbsent(thrown)) return [];
        throw thrown;
      },
    );
  }

  /**
   * Few machines whose ids are known are asked for by these; otherwise one listing tells of most. One that it lacks is
   * asked for too: only its own answer says that it is gone.
   */
  async function look(machines: readonly Machine[], signal: AbortSignal): Promise<readonly Droplet[]> {
    const ids = machines.flatMap(({ id }) => id ?? []);
    const isMany = machines.length > ONE_BY_ONE || ids.length < machines.length;
    const listed = isMany ? await listDroplets(api, { cluster, holdsMs: FRESH_MS, signal }) : [];
    const known = new Set(listed.map(({ id }) => String(id)));
    const others = ids.filter((id) => !known.has(id)).map((id) => byId(id, signal));
    return [...listed, ...(await Promise.all(others)).flat()];
  }

  /** One that is there already is as good, however DigitalOcean answers. */
  async function makeTag(signal: AbortSignal): Promise<void> {
    await api.ask({ method: 'POST', path: '/tags', body: { name: ending } }, signal).catch((thrown) => {
      if (Fault.from(thrown).kind !== 'invalid') throw thrown;
    });
  }

  /** Puts the tag of what is to end on all of them, and deletes what bears it. */
  async function deleteByTag(droplets: readonly Droplet[], signal: AbortSignal): Promise<void> {
    const resources = droplets.map(({ id }) => ({ resource_id: String(id), resource_type: 'droplet' }));
    // Not for long: someone may delete the tag.
    await api.keep(`tag ${ending}`, MINUTE_MS, () => makeTag(signal));
    await api.ask({ method: 'POST', path: `/tags/${ending}/resources`, body: { resources } }, signal);
    await api.ask({ method: 'DELETE', path: '/droplets', query: { tag_name: ending } }, signal);
  }

  async function deleteOne({ id }: Droplet, signal: AbortSignal): Promise<void> {
    await api.ask({ method: 'DELETE', path: `/droplets/${id}` }, signal).catch((thrown) => {
      if (!isAbsent(thrown)) throw thrown;
    });
  }

  /** By droplet: its deletion. */
  function deletions(
    asked: readonly Droplet[],
    seen: readonly Droplet[],
    signal: AbortSignal,
  ): ReadonlyMap<Droplet, Promise<void>> {
    // The tag would also delete what this call does not name: an earlier server may have died between the two calls.
    const isUnsafe = seen.some((one) => isTagged(one) && !one.locked && !asked.includes(one));
    // What bears the tag already is what a deletion by tag did not take.
    const fresh = asked.filter((one) => !isTagged(one));
    const byTag = fresh.length <= ONE_BY_ONE || isUnsafe ? undefined : deleteByTag(fresh, signal);
    return new Map(asked.map((one) => [one, (!isTagged(one) && byTag) || deleteOne(one, signal)]));
  }

  return async (machines, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const marked = machines.filter(({ mark }) => mark?.cluster === cluster);
    const seen = await look(marked, signal);
    const dropletsOf = ({ name, id }: Machine) => seen.filter((one) => String(one.id) === id || one.name === name);
    const found = new Map(marked.map((machine) => [machine, dropletsOf(machine)]));
    const ours = [...found.values()].filter((droplets) => droplets.every(isOurs)).flat();
    const deleting = deletions(ours, seen, signal);
    const outcomes = machines.map(async (machine): Promise<Outcome> => {
      const { name } = machine;
      const droplets = found.get(machine);
      if (!droplets?.every(isOurs))
        return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
      return Promise.all(droplets.map((one) => deleting.get(one))).then(
        () => ({ name }),
        (thrown) => ({ name, fault: Fault.from(thrown) }),
      );
    });
    return Promise.all(outcomes);
  };
}

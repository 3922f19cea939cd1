import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Droplet } from '../api.ts';
import type { DigitalOcean } from '../client.ts';
import { type Account, look, named } from './account.ts';
import { markOf } from './marks.ts';

export interface RemoverDeps {
  readonly account: Account;
  readonly api: DigitalOcean;
  readonly random: Random;
}

// With more than these, four calls that delete by a tag are fewer than one call for each.
const ONE_BY_ONE = 5;
// Marks do not change, and ids are never used again: a listing of this age still tells whose a droplet is.
const FRESH_MS = 10_000;
// What a deletion by tag has not taken by then is deleted by itself.
const TAG_TAKES_MS = 60_000;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

export function removerOf({ account, api, random }: RemoverDeps) {
  const { clock, cluster, promised, failed, deletedByTag } = account;

  async function byId(id: string, signal: AbortSignal): Promise<Droplet | undefined> {
    const asked = api.ask<{ droplet: Droplet }>({ path: `/droplets/${id}` }, signal);
    return asked.then(
      ({ droplet }) => droplet,
      (thrown) => {
        if (isAbsent(thrown)) return undefined;
        throw thrown;
      },
    );
  }

  /** Few machines whose ids are known are asked for by these; otherwise one listing tells of all. */
  async function targets(machines: readonly Machine[], signal: AbortSignal): Promise<ReadonlyMap<string, Droplet[]>> {
    const idsOf = ({ name, id }: Machine): string[] => {
      const listed = account.last ? named(account.last, name).map((one) => String(one.id)) : [];
      const ids = [id, promised.get(name)?.id, ...listed].flatMap((each) => (each === undefined ? [] : String(each)));
      return [...new Set(ids)];
    };
    if (machines.length <= ONE_BY_ONE && machines.every((machine) => idsOf(machine).length > 0)) {
      const found = machines.map(async (machine) => {
        const droplets = await Promise.all(idsOf(machine).map((id) => byId(id, signal)));
        return [machine.name, droplets.flatMap((one) => one ?? [])] as const;
      });
      return new Map(await Promise.all(found));
    }
    const { last } = account;
    const isFresh = last !== undefined && clock.monotonic() - last.startedMs <= FRESH_MS;
    const snapshot = isFresh ? last : await look(account, api, signal);
    return new Map(machines.map(({ name }) => [name, named(snapshot, name)]));
  }

  async function deleteOne(id: number, signal: AbortSignal): Promise<Fault | undefined> {
    try {
      await api.ask({ method: 'DELETE', path: `/droplets/${id}` }, signal);
      return undefined;
    } catch (thrown) {
      return isAbsent(thrown) ? undefined : Fault.from(thrown);
    }
  }

  /** Puts a tag that nothing else bears on all of them, and deletes what bears it. */
  async function deleteByTag(ids: readonly number[], signal: AbortSignal): Promise<Fault | undefined> {
    const tag = `muster-ending:${cluster}-${shortId(random, 12)}`;
    const resources = ids.map((id) => ({ resource_id: String(id), resource_type: 'droplet' }));
    try {
      await api.ask({ method: 'POST', path: '/tags', body: { name: tag } }, signal);
      await api.ask({ method: 'POST', path: `/tags/${tag}/resources`, body: { resources } }, signal);
      await api.ask({ method: 'DELETE', path: '/droplets', query: { tag_name: tag } }, signal);
      for (const id of ids) deletedByTag.set(id, clock.monotonic());
      return undefined;
    } catch (thrown) {
      return Fault.from(thrown);
    } finally {
      await api.ask({ method: 'DELETE', path: `/tags/${tag}` }, signal).catch(() => {});
    }
  }

  async function deleteAll(ids: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, Fault>> {
    const faults = new Map<number, Fault>();
    const note = (id: number, fault: Fault | undefined): void => void (fault && faults.set(id, fault));
    const nowMs = clock.monotonic();
    for (const [id, atMs] of deletedByTag) if (nowMs - atMs > 10 * TAG_TAKES_MS) deletedByTag.delete(id);
    const asked = ids.filter((id) => deletedByTag.has(id));
    const fresh = ids.filter((id) => !deletedByTag.has(id));
    const overdue = asked.filter((id) => nowMs - (deletedByTag.get(id) ?? 0) > TAG_TAKES_MS);
    const single = fresh.length > ONE_BY_ONE ? overdue : [...fresh, ...overdue];
    await Promise.all(single.map(async (id) => note(id, await deleteOne(id, signal))));
    if (fresh.length > ONE_BY_ONE) {
      const fault = await deleteByTag(fresh, signal);
      for (const id of fresh) note(id, fault);
    }
    return faults;
  }

  return async (machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The deletion was cancelled.');
    const ours = machines.filter(({ mark }) => mark?.cluster === cluster);
    const found = await targets(ours, signal);
    const isOurs = (droplet: Droplet): boolean => markOf(droplet)?.cluster === cluster;
    const ids = [...found.values()]
      .flat()
      .filter(isOurs)
      .map(({ id }) => id);
    const faults = await deleteAll(ids, signal);
    return machines.map(({ name, mark }) => {
      const droplets = found.get(name) ?? [];
      if (mark?.cluster !== cluster || !droplets.every(isOurs))
        return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
      const fault = droplets.map(({ id }) => faults.get(id)).find(Boolean);
      if (!fault) for (const told of [promised, failed]) told.delete(name);
      return { name, fault };
    });
  };
}

import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { Droplet } from '../api.ts';
import type { DigitalOcean } from '../client.ts';
import { type Account, type Batch, look, named } from './account.ts';
import { endingTag, markOf } from './marks.ts';

export interface RemoverDeps {
  readonly account: Account;
  readonly api: DigitalOcean;
}

// With more than these, two calls that delete by a tag are far fewer than one call for each.
const ONE_BY_ONE = 5;
// Marks do not change, and ids are never used again: a listing of this age still tells whose a droplet is.
const FRESH_MS = 10_000;
// What a deletion by tag has not taken by then is deleted by itself.
const TAG_TAKES_MS = 60_000;
const FORGET_MS = 600_000;
// The program deletes ten machines a call, and a pool that shrinks makes many such calls at once.
const GATHER_MS = 200;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

export function removerOf({ account, api }: RemoverDeps) {
  const { clock, cluster, promised, failed, deletedByTag, beingDeleted } = account;
  const ending = endingTag(cluster);

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

  /** One that is there already is as good, however DigitalOcean answers. */
  async function makeTag(signal: AbortSignal): Promise<void> {
    await api.ask({ method: 'POST', path: '/tags', body: { name: ending } }, signal).catch((thrown) => {
      if (Fault.from(thrown).kind !== 'invalid') throw thrown;
    });
    account.hasEndingTag = true;
  }

  async function tagAll(ids: readonly number[], signal: AbortSignal): Promise<void> {
    const resources = ids.map((id) => ({ resource_id: String(id), resource_type: 'droplet' }));
    if (!account.hasEndingTag) await makeTag(signal);
    await api.ask({ method: 'POST', path: `/tags/${ending}/resources`, body: { resources } }, signal);
  }

  /** Puts the tag of what is to end on all of them, and deletes what bears it. */
  async function deleteByTag(ids: readonly number[], signal: AbortSignal): Promise<Fault | undefined> {
    try {
      await tagAll(ids, signal);
      await api.ask({ method: 'DELETE', path: '/droplets', query: { tag_name: ending } }, signal);
    } catch (thrown) {
      // Someone may have deleted the tag.
      account.hasEndingTag = false;
      return Fault.from(thrown);
    }
    for (const id of ids) deletedByTag.set(id, clock.monotonic());
    return undefined;
  }

  /** Whether the tag would also delete droplets that this call does not name: an earlier server may have died between the two calls. */
  function isSafe(ids: readonly number[]): boolean {
    const asked = new Set([...ids, ...beingDeleted]);
    return (account.last?.droplets ?? []).every(({ id, tags }) => asked.has(id) || !tags.includes(ending));
  }

  /** What is asked for while a deletion by tag is on its way goes by the next one, all of it together. */
  function nextBatch(signal: AbortSignal): Batch {
    const { batches } = account;
    const ids: number[] = [];
    const done = batches.last.then(async () => {
      await clock.sleep(GATHER_MS, signal);
      batches.next = undefined;
      return deleteByTag(ids, signal);
    });
    batches.last = done;
    batches.next = { ids, done };
    return batches.next;
  }

  async function deleteMany(asked: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, Fault>> {
    for (const id of asked) beingDeleted.add(id);
    const { ids, done } = account.batches.next ?? nextBatch(signal);
    ids.push(...asked);
    const fault = await done;
    for (const id of asked) beingDeleted.delete(id);
    return new Map(fault ? asked.map((id) => [id, fault]) : []);
  }

  async function deleteEach(ids: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, Fault>> {
    const outcomes = await Promise.all(ids.map(async (id) => [id, await deleteOne(id, signal)] as const));
    return new Map(outcomes.flatMap(([id, fault]) => (fault ? [[id, fault] as const] : [])));
  }

  /** What a deletion by tag was asked for is left alone for a while, and then deleted by itself. */
  async function deleteAll(ids: readonly number[], signal: AbortSignal): Promise<ReadonlyMap<number, Fault>> {
    const nowMs = clock.monotonic();
    for (const [id, atMs] of deletedByTag) if (nowMs - atMs > FORGET_MS) deletedByTag.delete(id);
    const fresh = ids.filter((id) => !deletedByTag.has(id));
    const overdue = ids.filter((id) => nowMs - (deletedByTag.get(id) ?? nowMs) > TAG_TAKES_MS);
    const isFew = fresh.length <= ONE_BY_ONE && beingDeleted.size === 0;
    if (isFew || !isSafe(ids)) return deleteEach([...fresh, ...overdue], signal);
    return new Map([...(await deleteEach(overdue, signal)), ...(await deleteMany(fresh, signal))]);
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
      if (!fault) for (const names of [promised, failed]) names.delete(name);
      return { name, fault };
    });
  };
}

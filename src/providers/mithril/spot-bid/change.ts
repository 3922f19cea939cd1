import { Fault } from '#core/fault.ts';
import type { Machine, Outcome } from '#core/provider.ts';
import type { RestRequest } from '#rest/client.ts';
import type { Bid } from '../api.ts';
import type { Mithril } from '../client.ts';
import { type Account, look, named, ownerOf } from './account.ts';

type Change = 'delete' | 'suspend' | 'resume';

const REQUESTS: Readonly<Record<Change, Pick<RestRequest, 'method' | 'body'>>> = {
  delete: { method: 'DELETE' },
  suspend: { method: 'PATCH', body: { paused: true } },
  resume: { method: 'PATCH', body: { paused: false } },
};

/** States in which there is nothing left to do. */
const DONE: Readonly<Record<Change, readonly Bid['status'][]>> = {
  delete: ['Terminated'],
  suspend: ['Paused'],
  resume: ['Open', 'Allocated', 'Preempting'],
};

// With more than these, one listing is less than a question for each.
const ONE_BY_ONE = 5;
// Names of bids do not change: a listing of this age still tells whose one is.
const FRESH_MS = 10_000;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

/** Ends, pauses or wakes bids; each has its own outcome. */
export function changerOf(account: Account, api: Mithril, change: Change) {
  const { clock, cluster, taken, wokenAt } = account;

  async function byId(fid: string, signal: AbortSignal): Promise<Bid | undefined> {
    return api.ask<Bid>({ path: `/spot/bids/${fid}` }, signal).catch((thrown) => {
      if (isAbsent(thrown)) return undefined;
      throw thrown;
    });
  }

  /** Looked up in Mithril itself: only what bears our mark there is touched. */
  async function targets(machines: readonly Machine[], signal: AbortSignal): Promise<ReadonlyMap<string, Bid[]>> {
    const idsOf = ({ name, id }: Machine): string[] => {
      const listed = account.last ? named(account.last, name).map(({ bid }) => bid.fid) : [];
      return [...new Set([id, taken.get(name), ...listed].flatMap((fid) => fid ?? []))];
    };
    // What is woken or paused must be known as it is now.
    if (machines.length <= ONE_BY_ONE && machines.every((machine) => idsOf(machine).length > 0)) {
      const found = machines.map(async (machine) => {
        const bids = await Promise.all(idsOf(machine).map((fid) => byId(fid, signal)));
        return [machine.name, bids.flatMap((bid) => bid ?? [])] as const;
      });
      return new Map(await Promise.all(found));
    }
    const { last } = account;
    const isFresh = change === 'delete' && last !== undefined && clock.monotonic() - last.startedMs <= FRESH_MS;
    const snapshot = isFresh ? last : await look(account, api, signal);
    return new Map(machines.map(({ name }) => [name, named(snapshot, name).map(({ bid }) => bid)]));
  }

  async function changeOne({ fid, status }: Bid, signal: AbortSignal): Promise<Fault | undefined> {
    if (DONE[change].includes(status)) return undefined;
    try {
      await api.ask({ ...REQUESTS[change], path: `/spot/bids/${fid}` }, signal);
      return undefined;
    } catch (thrown) {
      return change === 'delete' && isAbsent(thrown) ? undefined : Fault.from(thrown);
    }
  }

  async function outcomeOf(machine: Machine, bids: readonly Bid[], signal: AbortSignal): Promise<Outcome> {
    const { name, mark } = machine;
    if (mark?.cluster !== cluster || bids.some((bid) => !ownerOf(bid, cluster)))
      return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
    if (bids.length === 0 && change !== 'delete') return { name, fault: new Fault('missing', `${name} has no bid.`) };
    const faults = await Promise.all(bids.map((bid) => changeOne(bid, signal)));
    const fault = faults.find(Boolean);
    if (!fault) {
      taken.delete(name);
      if (change === 'resume') wokenAt.set(name, clock.now());
      else wokenAt.delete(name);
    }
    return { name, fault };
  }

  return async (machines: readonly Machine[], signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
    const ours = machines.filter(({ mark }) => mark?.cluster === cluster);
    const found = await targets(ours, signal);
    return Promise.all(machines.map((machine) => outcomeOf(machine, found.get(machine.name) ?? [], signal)));
  };
}

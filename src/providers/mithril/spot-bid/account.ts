// One project of Mithril as this process sees it: what it lists, and what was asked of it and is not listed yet.
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { readMarkedName } from '#core/mark-name.ts';
import type { Context, Mark, Outcome } from '#core/provider.ts';
import type { Bid, Instance } from '../api.ts';
import type { Mithril } from '../client.ts';

/** A bid that bears our cluster's mark in its name. */
export interface OurBid {
  readonly bid: Bid;
  /** The name of the machine, without the mark. */
  readonly name: string;
  readonly mark: Mark;
  /** Its newest instance. */
  readonly instance: Instance | undefined;
}

/** A complete listing. */
export interface Snapshot {
  readonly startedMs: number;
  readonly bids: readonly OurBid[];
}

export interface Account {
  readonly clock: Clock;
  readonly cluster: string;
  readonly project: string;
  last: Snapshot | undefined;
  /** By name: bids that Mithril took, until a listing shows them. */
  readonly taken: Map<string, string>;
  /** By name: when a creation ended without a clear answer. */
  readonly unclear: Map<string, number>;
  /** By name: creations on their way. */
  readonly underWay: Map<string, Promise<Outcome>>;
  /** By name: when it was woken. */
  readonly wokenAt: Map<string, number>;
  /** By fid: when its preemption was first seen. */
  readonly noticed: Map<string, number>;
  /** By shape: how long a bid may stay open. */
  readonly patienceMs: Map<string, number>;
  longestPatienceMs: number;
}

/** The same for all that one server opens on one project. */
export function accountAt(cloud: string, project: string, context: Context): Account {
  return context.shared<Account>(`account ${cloud}`, () => ({
    clock: context.clock,
    cluster: context.cluster,
    project,
    last: undefined,
    taken: new Map(),
    unclear: new Map(),
    underWay: new Map(),
    wokenAt: new Map(),
    noticed: new Map(),
    patienceMs: new Map(),
    longestPatienceMs: 0,
  }));
}

/** Whose a bid is, where its name says that it is of that cluster. */
export function ownerOf({ name }: Bid, cluster: string): { readonly name: string; readonly mark: Mark } | undefined {
  const read = readMarkedName(name);
  return read?.mark.cluster === cluster ? read : undefined;
}

/** The newest instance of each bid: one that was preempted or woken has had several. */
function newestOf(instances: readonly Instance[]): ReadonlyMap<string, Instance> {
  const newest = new Map<string, Instance>();
  for (const instance of instances) {
    const { bid, created_at: madeAt = '' } = instance;
    if (bid && madeAt >= (newest.get(bid)?.created_at ?? '')) newest.set(bid, instance);
  }
  return newest;
}

/** All bids of our cluster with their newest instances; those that have ended are gone. */
export async function look(account: Account, api: Mithril, signal: AbortSignal): Promise<Snapshot> {
  const { clock, cluster, project } = account;
  if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
  const startedMs = clock.monotonic();
  const [bids, instances] = await Promise.all([
    api.all<Bid>('/spot/bids', { project }, signal),
    api.all<Instance>('/instances', { project }, signal),
  ]);
  const newest = newestOf(instances);
  const ours = bids.flatMap((bid): OurBid[] => {
    const owner = bid.status === 'Terminated' ? undefined : ownerOf(bid, cluster);
    return owner ? [{ bid, ...owner, instance: newest.get(bid.fid) }] : [];
  });
  const snapshot = { startedMs, bids: ours };
  for (const [name, endedMs] of account.unclear) if (startedMs - endedMs > HOUR_MS) account.unclear.delete(name);
  if ((account.last?.startedMs ?? Number.NEGATIVE_INFINITY) <= startedMs) account.last = snapshot;
  for (const { name } of ours) account.taken.delete(name);
  const living = new Set(ours.map(({ bid }) => bid.fid));
  for (const fid of account.noticed.keys()) if (!living.has(fid)) account.noticed.delete(fid);
  return snapshot;
}

/** The bids of that name, the oldest first. */
export function named({ bids }: Snapshot, name: string): OurBid[] {
  const age = ({ bid }: OurBid): number => Date.parse(bid.created_at);
  return bids.filter((one) => one.name === name).toSorted((a, b) => age(a) - age(b));
}

import { MINUTE_MS } from '#core/clock.ts';
import { readMarkedName } from '#core/mark-name.ts';
import type { Machine, Mark, Trouble } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Bid, Instance } from '../api.ts';
import { allOf } from '../client.ts';

/** A bid that bears our cluster's mark in its name. */
export interface OurBid {
  readonly bid: Bid;
  /** The name of the machine, without the mark. */
  readonly name: string;
  readonly mark: Mark;
  /** Its newest instance. */
  readonly instance: Instance | undefined;
}

/** Whose a bid is, where its name says that it is of that cluster. */
export function ownerOf({ name }: Bid, cluster: string): Pick<OurBid, 'name' | 'mark'> | undefined {
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

export interface Listing {
  readonly project: string;
  readonly cluster: string;
  /** How old a listing will do; absent: a new one. */
  readonly holdsMs?: number;
  readonly signal: AbortSignal;
}

/** All bids of our cluster with their newest instances, the oldest first; those that have ended are gone. */
export function listBids(
  api: CloudClient,
  { project, cluster, holdsMs = 0, signal }: Listing,
): Promise<readonly OurBid[]> {
  return api.keep(`bids ${project}`, holdsMs, async () => {
    const [bids, instances] = await Promise.all([
      allOf<Bid>(api, '/spot/bids', { project }, signal),
      allOf<Instance>(api, '/instances', { project }, signal),
    ]);
    const newest = newestOf(instances);
    const ours = bids.flatMap((bid): OurBid[] => {
      const owner = bid.status === 'Terminated' ? undefined : ownerOf(bid, cluster);
      return owner ? [{ bid, ...owner, instance: newest.get(bid.fid) }] : [];
    });
    return ours.toSorted((a, b) => Date.parse(a.bid.created_at) - Date.parse(b.bid.created_at));
  });
}

const STATES: Readonly<Record<Bid['status'], Machine['state']>> = {
  Open: 'creating',
  Allocated: 'running',
  Preempting: 'running',
  Paused: 'suspended',
  Terminated: 'deleting',
};

const BEGINNING = new Set(['NEW', 'CONFIRMED', 'SCHEDULED', 'INITIALIZING', 'STARTING']);
const ENDED_BY_MITHRIL = new Set(['PREEMPTED', 'RELOCATING', 'REPLACED']);

const BROKEN = { kind: 'unavailable', message: 'the instance is in the state ERROR', final: true } as const;
const PREEMPTED = { kind: 'exhausted', message: 'Mithril took the instance away', final: true } as const;
// A bid without capacity is not refused: it stays open.
const OPEN = {
  kind: 'exhausted',
  message: 'the bid is open: Mithril has no instance for it yet',
  final: false,
} as const;

function stateOf({ bid, instance }: OurBid): { readonly state: Machine['state']; readonly trouble?: Trouble } {
  const now = instance?.status.replace(/^STATUS_/, '');
  if (now === 'ERROR') return { state: 'failed', trouble: BROKEN };
  // It would get another instance one day, and boot anew under the name of a worker that is long lost.
  if (bid.status === 'Open' && now !== undefined && ENDED_BY_MITHRIL.has(now))
    return { state: 'failed', trouble: PREEMPTED };
  if (bid.status === 'Allocated' && (now === undefined || BEGINNING.has(now))) return { state: 'creating' };
  return { state: STATES[bid.status] ?? 'creating', ...(bid.status === 'Open' && { trouble: OPEN }) };
}

// Mithril announces a preemption five minutes ahead, and does not say when it did: it counts from the first listing that
// shows it, and ends a minute early for the time between two listings.
const NOTICE_MS = 4 * MINUTE_MS;

/** A bid as the rest of the program sees it. */
export function machineOf(one: OurBid, nowMs: number): Machine {
  const { bid, name, mark, instance } = one;
  const addresses = [instance?.private_ip, instance?.ssh_destination?.split(':')[0]].flatMap((at) => at || []);
  return {
    name,
    mark,
    id: bid.fid,
    createdAt: Date.parse(bid.created_at),
    ...stateOf(one),
    ...(bid.status === 'Preempting' && { endsAt: nowMs + NOTICE_MS }),
    ...(addresses.length > 0 && { addresses }),
  };
}

// Ending, pausing and waking bids, each looked up in Mithril itself: only what bears our mark there is touched.
import { Fault } from '#core/fault.ts';
import type { Backend, Machine, Outcome } from '#core/provider.ts';
import type { RestRequest } from '#rest/client.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import type { Bid } from '../api.ts';
import { listBids, ownerOf } from './listing.ts';

interface Change extends Pick<RestRequest, 'method' | 'body'> {
  /** States in which there is nothing left to do. */
  readonly done: readonly Bid['status'][];
  /** How old a listing will do. */
  readonly holdsMs: number;
}

const CHANGES = {
  // Names of bids do not change: a listing of this age still tells whose one is.
  delete: { method: 'DELETE', done: ['Terminated'], holdsMs: 10_000 },
  // What is woken or paused must be known as it is now.
  suspend: { method: 'PATCH', body: { paused: true }, done: ['Paused'], holdsMs: 0 },
  resume: { method: 'PATCH', body: { paused: false }, done: ['Open', 'Allocated', 'Preempting'], holdsMs: 0 },
} as const satisfies Record<string, Change>;

// With more than these, one listing is less than a question for each.
const ONE_BY_ONE = 5;

const isAbsent = (thrown: unknown): boolean => Fault.from(thrown).kind === 'missing';

/** Each machine has its own outcome. */
export function changerOf(api: CloudClient, project: string, cluster: string) {
  async function byId(fid: string, signal: AbortSignal): Promise<Bid[]> {
    return api.ask<Bid>({ path: `/spot/bids/${fid}` }, signal).then(
      (bid) => [bid],
      (thrown) => {
        if (isAbsent(thrown)) return [];
        throw thrown;
      },
    );
  }

  async function look(machines: readonly Machine[], holdsMs: number, signal: AbortSignal): Promise<readonly Bid[]> {
    const fids = machines.flatMap(({ id }) => id ?? []);
    const isMany = machines.length > ONE_BY_ONE || fids.length < machines.length;
    const listed = isMany ? await listBids(api, { project, cluster, holdsMs, signal }) : [];
    const known = new Set(listed.map(({ bid }) => bid.fid));
    // A listing leaves out what has ended and may be late: only its own answer says that a bid is gone.
    const others = fids.filter((fid) => !known.has(fid)).map((fid) => byId(fid, signal));
    return [...listed.map(({ bid }) => bid), ...(await Promise.all(others)).flat()];
  }

  return (kind: keyof typeof CHANGES): Backend['delete'] => {
    const { done, holdsMs, ...request }: Change = CHANGES[kind];

    async function changeOne({ fid, status }: Bid, signal: AbortSignal): Promise<void> {
      if (done.includes(status)) return;
      await api.ask({ ...request, path: `/spot/bids/${fid}` }, signal).catch((thrown) => {
        if (kind !== 'delete' || !isAbsent(thrown)) throw thrown;
      });
    }

    async function outcomeOf({ name, mark }: Machine, bids: readonly Bid[], signal: AbortSignal): Promise<Outcome> {
      if (mark?.cluster !== cluster || bids.some((bid) => !ownerOf(bid, cluster)))
        return { name, fault: new Fault('denied', `${name} is not a machine of this cluster.`) };
      if (bids.length === 0 && kind !== 'delete') return { name, fault: new Fault('missing', `${name} has no bid.`) };
      return Promise.all(bids.map((bid) => changeOne(bid, signal))).then(
        () => ({ name }),
        (thrown) => ({ name, fault: Fault.from(thrown) }),
      );
    }

    return async (machines, signal) => {
      if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
      const ours = machines.filter(({ mark }) => mark?.cluster === cluster);
      const seen = await look(ours, holdsMs, signal);
      const outcomes = machines.map((machine) => {
        const { name, id } = machine;
        const bids = seen.filter((bid) => bid.fid === id || ownerOf(bid, cluster)?.name === name);
        return outcomeOf(machine, bids, signal);
      });
      return Promise.all(outcomes);
    };
  };
}

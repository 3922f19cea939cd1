import { MINUTE_MS } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import type { Instance } from '../api.ts';
import type { Account, OurBid } from './account.ts';

const STATES: Readonly<Record<OurBid['bid']['status'], Machine['state']>> = {
  Open: 'creating',
  Allocated: 'running',
  Preempting: 'running',
  Paused: 'suspended',
  Terminated: 'deleting',
};

const BEGINNING = new Set(['NEW', 'CONFIRMED', 'SCHEDULED', 'INITIALIZING', 'STARTING']);
const ENDED_BY_MITHRIL = new Set(['PREEMPTED', 'RELOCATING', 'REPLACED']);

const stateIn = ({ status }: Instance): string => status.replace(/^STATUS_/, '');

/** How long a bid waits for its instance: since it was made, or since it was woken last. */
function openForMs({ clock, wokenAt }: Account, { bid, name }: OurBid): number {
  return clock.now() - Math.max(Date.parse(bid.created_at), wokenAt.get(name) ?? Number.NEGATIVE_INFINITY);
}

/** A bid without capacity is not refused: it stays open. */
function whileOpen(account: Account, one: OurBid): Trouble {
  const patienceMs = account.patienceMs.get(one.mark.shape) ?? account.longestPatienceMs;
  const final = openForMs(account, one) >= patienceMs;
  const message = final
    ? `the bid got no instance within allocation_timeout (${formatDuration(patienceMs)}); raise limit_price, or offer another type or region`
    : 'the bid is open: Mithril has no instance for it yet';
  return { kind: 'exhausted', message, final };
}

function troubleOf(account: Account, one: OurBid): Trouble | undefined {
  const { status } = one.bid;
  const instance = one.instance && stateIn(one.instance);
  if (instance === 'ERROR') return { kind: 'unavailable', message: 'the instance is in the state ERROR', final: true };
  return status === 'Open' ? whileOpen(account, one) : undefined;
}

function stateOf({ bid, instance }: OurBid): Machine['state'] {
  const now = instance && stateIn(instance);
  if (now === 'ERROR') return 'failed';
  // It would get another instance one day, and boot anew under the name of a worker that is long lost.
  if (bid.status === 'Open' && now !== undefined && ENDED_BY_MITHRIL.has(now)) return 'failed';
  if (bid.status === 'Allocated' && (now === undefined || BEGINNING.has(now))) return 'creating';
  return STATES[bid.status] ?? 'creating';
}

// Mithril announces a preemption five minutes ahead, and does not say when it did: it counts from the first listing that
// shows it, and ends a minute early for the time between two listings.
const NOTICE_MS = 4 * MINUTE_MS;

function noticedAt({ noticed, clock }: Account, { bid }: OurBid): number {
  const atMs = noticed.get(bid.fid) ?? clock.now();
  noticed.set(bid.fid, atMs);
  return atMs;
}

/** A bid as the rest of the program sees it. */
export function machineOf(account: Account, one: OurBid): Machine {
  const { bid, name, mark, instance } = one;
  const state = stateOf(one);
  const trouble =
    state === 'failed' && bid.status === 'Open'
      ? ({ kind: 'exhausted', message: 'Mithril took the instance away', final: true } as const)
      : troubleOf(account, one);
  const addresses = [instance?.private_ip, instance?.ssh_destination?.split(':')[0]].flatMap((at) => at || []);
  return {
    name,
    mark,
    id: bid.fid,
    createdAt: Date.parse(bid.created_at),
    state,
    ...(trouble && { trouble }),
    ...(bid.status === 'Preempting' && { endsAt: noticedAt(account, one) + NOTICE_MS }),
    ...(addresses.length > 0 && { addresses }),
  };
}

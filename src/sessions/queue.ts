import type { Session } from '#core/session.ts';
import { askedLabels } from './asked-labels.ts';
import { Heap } from './heap.ts';

type Labels = Readonly<Record<string, string>>;

/** An agent with free slots, as far as placing needs it. */
export interface Seat {
  /** The agent's name. */
  readonly id: string;
  readonly free: number;
  readonly connectedAt: number;
  readonly labels: Labels;
}

export interface Match {
  readonly session: Session;
  readonly agent: string;
}

/** The queued sessions of one pool, and its agents with free slots. */
export interface PoolQueue {
  add(session: Session): void;
  remove(session: Session): void;
  /** Sets an agent's seat; undefined: it has no free slot. */
  seat(agent: string, seat: Seat | undefined): void;
  /** Takes a seat for a session that has just come; none where it has to wait, for a seat or behind others. */
  takeSeat(session: Session): string | undefined;
  /** Takes the first session that some seat suits, and that seat. A session that no seat suits does not block those behind it. */
  take(): Match | undefined;
}

/** First in, first out within a priority; lower numbers go first. */
export function isSooner(a: Session, b: Session): boolean {
  return a.spec.priority < b.spec.priority || (a.spec.priority === b.spec.priority && a.id < b.id);
}

// Agents fill up one after the other, so that surplus agents become idle and their machines can be deleted.
function isFuller(a: Seat, b: Seat): boolean {
  if (a.free !== b.free) return a.free < b.free;
  return a.connectedAt < b.connectedAt || (a.connectedAt === b.connectedAt && a.id < b.id);
}

export function offersAll(offered: Labels, asked: Labels): boolean {
  for (const label in asked) if (offered[label] !== asked[label]) return false;
  return true;
}

/** Sessions that ask for the same labels share a lane: if the first finds no seat, none of them does. */
interface Lane {
  readonly labels: Labels;
  readonly waiting: Heap<Session>;
  readonly seats: Heap<Seat>;
}

const newLane = (labels: Labels): Lane => ({ labels, waiting: new Heap(isSooner), seats: new Heap(isFuller) });

/** Equal for equal labels. */
export function laneKey(labels: Labels): string {
  const names = Object.keys(labels);
  return names.length === 0 ? '' : JSON.stringify(names.sort().map((name) => [name, labels[name]]));
}

// A new lane looks at every agent of the pool, so a few empty lanes are kept for the next session with the same labels.
const LANES_KEPT = 32;

export function makePoolQueue(): PoolQueue {
  // Every seat suits a session that asks for no labels.
  const plain = newLane({});
  const lanes = new Map<string, Lane>([['', plain]]);

  function laneOf(session: Session): Lane {
    const labels = askedLabels(session.spec);
    const key = laneKey(labels);
    return lanes.get(key) ?? openLane(key, labels);
  }

  function openLane(key: string, labels: Labels): Lane {
    if (lanes.size >= LANES_KEPT) dropEmptyLanes();
    const lane = newLane(labels);
    for (const seat of plain.seats.items()) if (offersAll(seat.labels, labels)) lane.seats.put(seat);
    lanes.set(key, lane);
    return lane;
  }

  function dropEmptyLanes(): void {
    for (const [key, lane] of lanes) if (lane.waiting.size === 0 && lane !== plain) lanes.delete(key);
  }

  function fileSeat(agent: string, seat: Seat | undefined): void {
    for (const lane of lanes.values()) {
      if (seat && offersAll(seat.labels, lane.labels)) lane.seats.put(seat);
      else lane.seats.remove(agent);
    }
  }

  function nextLane(): Lane | undefined {
    let next: Lane | undefined;
    let first: Session | undefined;
    for (const lane of lanes.values()) {
      const head = lane.seats.size > 0 ? lane.waiting.first() : undefined;
      if (head && (!first || isSooner(head, first))) [next, first] = [lane, head];
    }
    return next;
  }

  /** One slot of this seat is taken from now on. */
  const narrow = (seat: Seat): void => fileSeat(seat.id, seat.free > 1 ? { ...seat, free: seat.free - 1 } : undefined);

  return {
    add: (session) => laneOf(session).waiting.put(session),
    remove: (session) => lanes.get(laneKey(askedLabels(session.spec)))?.waiting.remove(session.id),
    seat: fileSeat,
    takeSeat(session) {
      if (nextLane()) return undefined;
      const seat = laneOf(session).seats.first();
      if (seat) narrow(seat);
      return seat?.id;
    },
    take() {
      const lane = nextLane();
      const session = lane?.waiting.first();
      if (!lane || !session) return undefined;
      const seat = seatFor(session, lane.seats);
      lane.waiting.remove(session.id);
      narrow(seat);
      return { session, agent: seat.id };
    },
  };
}

/** An agent that refused this session gets it again only if there is no other agent. */
function seatFor(session: Session, seats: Heap<Seat>): Seat {
  const first = seats.first() as Seat;
  const refused = session.refusedBy;
  if (!refused?.includes(first.id)) return first;
  let best: Seat | undefined;
  for (const seat of seats.items()) {
    if (!refused.includes(seat.id) && (!best || isFuller(seat, best))) best = seat;
  }
  return best ?? first;
}

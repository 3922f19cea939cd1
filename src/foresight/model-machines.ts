// The machines of the model: how they come, what they cost, and how they go.
import { HOUR_MS } from '#core/clock.ts';
import type { Scaling } from '#core/pool.ts';
import { type Random, seededRandom } from '#core/random.ts';
import type { Action, OfferFact, WorkerFact } from '../autoscaler/plan.ts';
import { openEventHeap } from './event-heap.ts';
import type { ModelInput } from './model.ts';

/** How long a machine is assumed to take where nothing was measured. */
export const ASSUMED_READY_MS = 120_000;

export interface ModelWorker extends WorkerFact {
  phase: WorkerFact['phase'];
  freeSlots: number;
  sinceMs: number;
  readonly offer: string;
  readonly bornMs: number;
  joinedMs: number;
}

export interface ModelEvent {
  readonly atMs: number;
  readonly is: 'ready' | 'refused' | 'end' | 'gone';
  readonly worker: ModelWorker;
}

export interface ModelMachines {
  readonly workers: readonly ModelWorker[];
  /** With the cool-downs of those that refused. */
  readonly offers: readonly OfferFact[];
  readonly freeSlots: number;
  readonly totals: { launches: number; refused: number; removals: number; machinesWithoutPrice: number };
  nextMs(): number;
  /** Carries out what is due by then; answers how many events those were. */
  advance(nowMs: number, scaling: Scaling): number;
  act(actions: readonly Action[], nowMs: number, slots: number): void;
  /** Gives a slot to a session until then. */
  seat(nowMs: number, endMs: number): void;
  /** All that was launched is there, and no launch counts. */
  settle(nowMs: number): void;
  spent(nowMs: number): { readonly machineHours: number; readonly dollars: number; readonly dollarsPerHour: number };
}

export function openModelMachines(input: Pick<ModelInput, 'offers' | 'supply' | 'seed'>): ModelMachines {
  const random = seededRandom(input.seed);
  const events = openEventHeap<ModelEvent>();
  const workers: ModelWorker[] = [];
  const coolingUntilMs = new Map<string, number>();
  const totals = { launches: 0, refused: 0, removals: 0, machinesWithoutPrice: 0 };
  const ended = { machineHours: 0, dollars: 0 };
  let { offers } = input;
  let freeSlots = 0;
  let made = 0;

  function refreshOffers(): void {
    offers = input.offers.map((offer) => ({ ...offer, coolingUntilMs: coolingUntilMs.get(offer.id) }));
  }

  function launch(offer: string, nowMs: number, slots: number): void {
    const { pricePerHour } = input.offers.find(({ id }) => id === offer) ?? {};
    const { readyAfterMs, refusals } = input.supply[offer] ?? {};
    const worker: ModelWorker = {
      ...{ name: `w${made++}`, phase: 'launching', slots, freeSlots: slots, sinceMs: nowMs },
      ...{ offer, pricePerHour, bornMs: nowMs, joinedMs: 0 },
    };
    workers.push(worker);
    totals.launches += 1;
    const isRefused = refusals !== undefined && random.next() < refusals.share;
    const afterMs = isRefused ? refusals.afterMs : (draw(random, readyAfterMs) ?? ASSUMED_READY_MS);
    events.put({ atMs: nowMs + afterMs, is: isRefused ? 'refused' : 'ready', worker });
  }

  function remove(name: string, nowMs: number): void {
    const worker = workers.find((one) => one.name === name);
    if (!worker || worker.phase === 'deleting') return;
    if (hasJoined(worker)) freeSlots -= worker.freeSlots;
    worker.phase = 'deleting';
    totals.removals += 1;
    const goneAfterMs = draw(random, input.supply[worker.offer]?.goneAfterMs) ?? 0;
    events.put({ atMs: nowMs + goneAfterMs, is: 'gone', worker });
  }

  const HANDLERS: Record<ModelEvent['is'], (event: ModelEvent, scaling: Scaling) => void> = {
    ready({ worker, atMs }) {
      if (worker.phase !== 'launching') return;
      Object.assign(worker, { phase: 'idle', sinceMs: atMs, joinedMs: atMs });
      freeSlots += worker.freeSlots;
      // As for real pools: a machine that joins shows that launching works again.
      coolingUntilMs.clear();
      refreshOffers();
    },
    refused({ worker, atMs }, { retryDelayMs, errorResetAfterMs }) {
      totals.refused += 1;
      if (worker.phase !== 'launching') return;
      coolingUntilMs.set(worker.offer, atMs + Math.min(retryDelayMs, errorResetAfterMs));
      refreshOffers();
      workers.splice(workers.indexOf(worker), 1);
    },
    end({ worker, atMs }) {
      worker.freeSlots += 1;
      freeSlots += 1;
      if (worker.freeSlots === worker.slots) Object.assign(worker, { phase: 'idle', sinceMs: atMs });
    },
    gone({ worker, atMs }) {
      workers.splice(workers.indexOf(worker), 1);
      ended.machineHours += (atMs - worker.bornMs) / HOUR_MS;
      ended.dollars += costOf(worker, atMs);
      if (worker.pricePerHour === undefined) totals.machinesWithoutPrice += 1;
    },
  };

  /** The fullest first, of equals the one that joined first: as sessions are placed on real workers. */
  function fullest(): ModelWorker | undefined {
    let best: ModelWorker | undefined;
    for (const worker of workers) {
      if (worker.freeSlots === 0 || !hasJoined(worker)) continue;
      if (!best || isFuller(worker, best)) best = worker;
    }
    return best;
  }

  return {
    workers,
    totals,
    get offers() {
      return offers;
    },
    get freeSlots() {
      return freeSlots;
    },
    nextMs: () => events.first()?.atMs ?? Number.POSITIVE_INFINITY,
    advance(nowMs, scaling) {
      let count = 0;
      for (let next = events.first(); next && next.atMs <= nowMs; next = events.first()) {
        events.take();
        HANDLERS[next.is](next, scaling);
        count += 1;
      }
      return count;
    },
    act(actions, nowMs, slots) {
      for (const action of actions)
        if (action.do === 'launch') for (let nth = 0; nth < action.count; nth += 1) launch(action.offer, nowMs, slots);
        else remove(action.worker, nowMs);
    },
    seat(nowMs, endMs) {
      const worker = fullest();
      if (!worker) return;
      worker.freeSlots -= 1;
      worker.phase = 'busy';
      freeSlots -= 1;
      events.put({ atMs: Math.max(nowMs, endMs), is: 'end', worker });
    },
    settle(nowMs) {
      for (let next = events.take(); next; next = events.take())
        HANDLERS.ready({ ...next, atMs: nowMs }, {} as Scaling);
      totals.launches = 0;
    },
    spent(nowMs) {
      let { machineHours, dollars } = ended;
      let dollarsPerHour = 0;
      for (const worker of workers) {
        machineHours += (nowMs - worker.bornMs) / HOUR_MS;
        dollars += costOf(worker, nowMs);
        dollarsPerHour += worker.pricePerHour ?? 0;
      }
      return { machineHours, dollars, dollarsPerHour };
    },
  };
}

const hasJoined = ({ phase }: ModelWorker): boolean => phase === 'idle' || phase === 'busy';

const isFuller = (one: ModelWorker, other: ModelWorker): boolean =>
  one.freeSlots < other.freeSlots || (one.freeSlots === other.freeSlots && one.joinedMs < other.joinedMs);

const costOf = ({ bornMs, pricePerHour = 0 }: ModelWorker, atMs: number): number =>
  ((atMs - bornMs) / HOUR_MS) * pricePerHour;

const draw = (random: Random, sample: readonly number[] = []): number | undefined =>
  sample.length === 0 ? undefined : sample[Math.floor(random.next() * sample.length)];

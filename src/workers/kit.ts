import type { Admission, JoinRequest } from '#access/door.ts';
import type { Clouds } from '#clouds/clouds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import { idMaker } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { Offer, Pool } from '#core/pool.ts';
import type { Boot } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import type { Change, Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Journal } from '#journal/journal.ts';
import { listLagMs } from './lag.ts';
import { type PoolMemory, rememberPools } from './pool-memory.ts';
import { rememberWorkers, type Sight } from './sight.ts';
import { DEFAULT_TIMES, type Times } from './times.ts';

export interface WorkersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly link: AgentLink;
  /** The door: lets in by the pool's `agent_auth`, or throws a `Fault`. */
  admit(request: JoinRequest): Admission;
  /** The agent's configuration file for new machines of that pool. */
  bootConfig(pool: Pool): string;
  /** The same for the same launch, always. */
  launchToken(launch: string): string;
  /** Where machines without an agent get one. */
  install?(): Boot['install'];
  /** Equal for offers that make equal machines, whatever their credentials and limits; absent: their ids. */
  offerShape?(offer: Offer): string;
  readonly times?: Partial<Times> | undefined;
}

/** How far one launch has come in this process. */
export interface LaunchState {
  isCalling: boolean;
  calls: number;
  /** How often a call was begun, whether or not it left the process. */
  tries: number;
  /** When its last call ended, on the monotonic clock; absent while the cloud cannot have heard of it. */
  endedMs?: number;
  notBeforeMs: number;
  /** Why a repeat of it was refused: it is not called again. */
  refusal?: Fault;
}

/** What every step of this folder works with. */
export interface Kit extends WorkersDeps {
  offerShape(offer: Offer): string;
  readonly times: Times;
  /** When this process began, on the monotonic clock. */
  readonly startedMs: number;
  readonly stopping: AbortSignal;
  /** The server is about to stop: nothing is decided any more, and what was is carried out. */
  readonly standingDown: { isOn: boolean };
  readonly launches: Map<string, LaunchState>;
  /** Workers that are away or no longer listed, with since when: what the guard against mass loss counts. */
  readonly vanished: Map<string, { readonly pool: string; readonly sinceMs: number }>;
  /** Clouds whose machines have been compared with our rows at least once. */
  readonly reviewed: Set<string>;
  /** Orphans that their cloud is being told to delete. */
  readonly sweeping: Set<string>;
  /** Grows with every change of a worker's row: a survey older than that is stale. */
  workersChanged(): number;
  nextId(): string;
  sightOf(worker: Worker): Sight;
  /** A worker that this very process asked for or met first. */
  firstSight(name: string): Sight;
  memoryOf(pool: string): PoolMemory;
  /** The pools for which a listing may change anything: some worker is not where it should be. */
  readonly waiting: Set<string>;
  /** As `store.commit`, then what follows; a store that fails ends the process by itself, so nobody need catch it. */
  commit(changes: readonly Change[], thenDo?: () => void): void;
  poke(pool: string): void;
  /** Does something that waits, apart from any pass; whatever it throws is logged. */
  start(what: string, work: () => Promise<void>): void;
  /** Resolves when all that was started has ended. */
  rest(): Promise<void>;
}

export function openKit(deps: WorkersDeps, stopping: AbortSignal, poke: (pool: string) => void): Kit {
  const { store, clock, random, log } = deps;
  const times = { ...DEFAULT_TIMES, ...deps.times };
  const startedMs = clock.monotonic();
  const lagMs = (offer: string | undefined): number => listLagMs({ ...deps, times }, offer);
  const sights = rememberWorkers({ store, clock, startedMs, times, lagMs });
  const pools = rememberPools(store, clock);
  const underWay = new Set<Promise<void>>();
  let changes = 0;
  store.onChange('workers', () => {
    changes += 1;
  });
  return {
    ...deps,
    offerShape: deps.offerShape ?? (({ id }) => id),
    times,
    startedMs,
    stopping,
    standingDown: { isOn: false },
    launches: new Map(),
    vanished: new Map(),
    reviewed: new Set(),
    sweeping: new Set(),
    workersChanged: () => changes,
    nextId: idMaker(() => clock.now(), random),
    sightOf: sights.of,
    firstSight: sights.first,
    memoryOf: pools.of,
    waiting: pools.waiting,
    commit: (changes, thenDo) => void store.commit(changes).then(thenDo, () => {}),
    poke,
    start(what, work) {
      const done: Promise<void> = work()
        .catch((thrown) => {
          const fault = Fault.from(thrown);
          const stack = fault.kind === 'internal' ? { stack: (fault.cause as Error | undefined)?.stack } : {};
          log('error', 'work failed', { what, kind: fault.kind, error: fault.message, ...stack });
        })
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    async rest() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** The worker under a name: its own, or the one its cloud insists on. */
export function workerNamed({ view }: Store, name: string): Worker | undefined {
  return view.workers.get(name) ?? [...view.workers.by('machine', name)][0];
}

/** How long a worker has been there, in whole seconds. */
export function lifetimeOf({ clock }: Kit, { createdAt, askedAt }: Worker): string {
  return formatDuration(Math.max(0, Math.round((clock.now() - (createdAt ?? askedAt)) / 1_000) * 1_000));
}

import type { Admission, JoinRequest } from '#access/admit-agent.ts';
import type { Clouds } from '#clouds/clouds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Budgets } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import type { BootSettings } from '#core/feature.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Journal } from '#journal/journal.ts';
import type { Machines } from '#machines/machines.ts';
import type { OwnedMachines } from '#machines/owned-machines.ts';
import type { WorkerObservation } from './observation.ts';
import type { PoolMemories } from './pool-memory.ts';
import type { Times } from './times.ts';

export interface WorkersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly machines: Machines;
  readonly link: AgentLink;
  /** Admits an agent by the pool's `agent_auth`, or throws a `Fault`. */
  admit(request: JoinRequest): Admission;
  readonly boot: BootSettings;
  /** What machines may cost; absent: there are no budgets. */
  readonly budgets?: (() => Budgets | undefined) | undefined;
  /** Called when what keeps a pool from its machines, or how many it must have, has changed. */
  activityChanged?(pool: string): void;
  readonly times?: Partial<Times> | undefined;
}

/** What the steps of a pass read and write: the world, the machines of workers, and what is remembered of pools. */
export interface WorkersContext
  extends Pick<WorkersDeps, 'store' | 'clock' | 'log' | 'journal' | 'clouds' | 'link' | 'budgets'> {
  readonly times: Times;
  readonly owned: OwnedMachines<Worker, WorkerObservation>;
  readonly pools: PoolMemories;
  /** The server is about to stop: no new decisions; committed ones are carried out. */
  readonly standingDown: { isOn: boolean };
  /** The pool whose pass is carrying out removals or launches: it goes on with what it changes, and need not be woken. */
  readonly acting: { pool: string | undefined };
  /** Grows with every change of a worker's row: a survey older than that is stale. */
  workersChanged(): number;
}

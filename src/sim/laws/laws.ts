import type { Clock } from '#core/clock.ts';
import { readMark } from '#core/mark.ts';
import type { Session } from '#core/session.ts';
import type { Change, Store } from '#core/store.ts';
import type { Disk } from '#store/memory.ts';
import type { SimAgent } from '../agent.ts';
import { rowOn } from '../disk.ts';
import type { FaultDraws } from '../faults.ts';
import type { Invariants } from '../invariants.ts';
import { type DurabilityLaws, durabilityLaws } from './durability.ts';
import { idleLaws } from './idle.ts';
import { type MachineLaws, machineLaws } from './machines.ts';
import { poolLaws } from './pools.ts';
import { replayLaw } from './replay.ts';
import { type RunLaws, runLaws } from './runs.ts';
import { type SessionLaws, sessionLaws } from './sessions.ts';

/** All invariants, each where it hears of what concerns it. */
export interface Laws {
  readonly runs: RunLaws;
  readonly machines: MachineLaws;
  readonly sessions: SessionLaws;
  readonly durability: DurabilityLaws;
  /** Sessions whose acceptance was confirmed to a caller, and that have not ended. */
  readonly open: ReadonlySet<string>;
  accepted(sessions: readonly Session[], key: string): void;
  /** Right before they are applied to memory. */
  committing(changes: readonly Change[]): void;
  written(changes: readonly Change[]): void;
  watch(store: Store, isAlive: () => boolean): void;
  slotsOf(pool: string): number;
}

export interface LawsOptions {
  readonly invariants: Invariants;
  readonly clock: Clock;
  readonly disk: Disk;
  /** Nothing goes wrong with launches, so that every pool must have what it asks for. */
  readonly isFair: boolean;
  /** Every stored decision is computed again, however many there are. */
  readonly replaysAll: boolean;
  readonly draws: Pick<FaultDraws, 'quietMs'>;
  agentOn(machine: string): SimAgent | undefined;
  exists(machine: string): boolean;
  ended(session: Session): void;
}

export function openLaws(options: LawsOptions): Laws {
  const { invariants, clock, disk } = options;
  const open = new Set<string>();
  const answers = new Map<string, string>();
  const runs = runLaws(invariants, options.exists);
  const machines = machineLaws(options);
  const sessions = sessionLaws({
    invariants,
    runs,
    ended(session) {
      open.delete(session.id);
      options.ended(session);
    },
  });
  const { hasEnded, outputKept } = sessions;
  const durability = durabilityLaws({ invariants, disk, hasEnded, outputKept });
  const pools = poolLaws(invariants, clock);
  const idle = idleLaws(options);
  const replay = replayLaw(invariants, options.replaysAll);

  function settle(change: Change): void {
    if ('append' in change) return;
    if (change.table === 'workers' && !change.row) machines.forgotten(change.id);
    if (change.table !== 'launches') return;
    if (change.row) machines.launched(change.id, readMark(change.row.mark).owner);
    else machines.settled(change.id);
  }

  return {
    runs,
    machines,
    sessions,
    durability,
    open,
    accepted(accepted, key) {
      durability.answered(accepted);
      const ids = accepted.map(({ id }) => id).join(' ');
      const before = answers.get(key) ?? ids;
      answers.set(key, ids);
      invariants.holds('same-answer', before === ids, () => `request ${key} got sessions ${before}, and then ${ids}`);
      for (const { id } of accepted) if (!hasEnded(id)) open.add(id);
    },
    committing(changes) {
      pools.committing(changes);
      idle.committing(changes);
    },
    written(changes) {
      for (const change of changes) {
        settle(change);
        if ('append' in change && change.append === 'decisions') replay(change.row);
      }
      sessions.written(changes);
    },
    watch(store, isAlive) {
      sessions.watch(store, isAlive);
      pools.watch(store, isAlive);
      idle.watch(store, isAlive);
    },
    slotsOf: (pool) => rowOn(disk, 'pools', pool)?.spec.scaling.slotsPerAgent ?? 1,
  };
}

import type { Launch, Machine } from '#core/provider.ts';
import type { Disk } from '#store/memory.ts';
import type { SimAgent } from '../agent.ts';
import type { SimCloud, SimMachine } from '../backend.ts';
import { rowOn } from '../disk.ts';
import type { Invariants } from '../invariants.ts';

/** What the clouds have, counted as they see it. */
export interface MachineLaws {
  watch(cloud: SimCloud): void;
  /** Right before a delete leaves. */
  deleting(machines: readonly Machine[]): void;
  /** A launch is durable: from now on it may make machines, however the definition changes. */
  launched(launch: string, pool: string): void;
  settled(launch: string): void;
  /** The row of that worker is gone from the disk. */
  forgotten(worker: string): void;
}

export interface MachineLawsOptions {
  readonly invariants: Invariants;
  readonly disk: Disk;
  agentOn(machine: string): SimAgent | undefined;
  exists(machine: string): boolean;
}

export function machineLaws({ invariants, disk, agentOn, exists }: MachineLawsOptions): MachineLaws {
  const counts = new Map<string, number>();
  const capAtLaunch = new Map<string, number>();
  // Made by a call of a server that was dead by then: nothing fences a call to a cloud.
  const lateBorn = new Map<string, string>();
  const orphans = new Set<string>();

  const capOf = (pool: string): number => rowOn(disk, 'pools', pool)?.spec.scaling.maxAgents ?? 0;

  function made(cloud: SimCloud, { launch, name, isLate }: SimMachine): void {
    if (!launch) return;
    const { owner: pool } = launch.mark;
    const times = cloud.made.get(name) ?? 0;
    invariants.holds('made-once', times <= 1, () => `${name} was made ${times} times`);
    if (isLate) lateBorn.set(name, pool);
    if (isOrphan(launch, name)) return void orphans.add(name);
    const count = (counts.get(pool) ?? 0) + 1;
    counts.set(pool, count);
    const cap = Math.max(capAtLaunch.get(launch.id) ?? 0, capOf(pool));
    invariants.holds('cap', count <= cap, () => `pool ${pool} has ${count} machines, and max_agents is ${cap}`);
  }

  /** Made after the next server had given it up: it may come on top. It is refused at the door, and swept. */
  function isOrphan({ id }: Launch, name: string): boolean {
    const isKnown = rowOn(disk, 'launches', id) !== undefined || rowOn(disk, 'workers', name) !== undefined;
    return lateBorn.has(name) && !isKnown;
  }

  function gone({ launch, machine, name }: SimMachine): void {
    const isOurs = launch !== undefined;
    invariants.holds('foreign-kept', isOurs, () => `${machine.name} was deleted, and it is not ours`);
    lateBorn.delete(name);
    if (launch && !orphans.delete(name)) discount(launch.mark.owner);
  }

  const discount = (pool: string): void => void counts.set(pool, (counts.get(pool) ?? 0) - 1);

  /** Given up because the last listing, older than its making, did not show it: an orphan from now on. */
  function orphaned(name: string, pool: string): void {
    if (!exists(name) || orphans.has(name)) return;
    orphans.add(name);
    discount(pool);
  }

  /** A session that runs there and still counts. */
  function workOn({ name }: Machine): string | undefined {
    for (const run of agentOn(name)?.runs.values() ?? []) {
      const session = run.isOver ? undefined : rowOn(disk, 'sessions', run.session);
      if (session?.worker === name && session.attempt === run.attempt) return run.session;
    }
    return undefined;
  }

  /** Whether its removal was decided at the deadline of its drain, or later. */
  function wasDue({ name }: Machine): boolean {
    const { drain, removal } = rowOn(disk, 'workers', name) ?? {};
    return removal !== undefined && (drain?.deadlineAt ?? Number.POSITIVE_INFINITY) <= removal.at;
  }

  return {
    watch(cloud) {
      cloud.onMade((machine) => made(cloud, machine));
      cloud.onGone(gone);
    },
    deleting(machines) {
      for (const machine of machines) {
        const work = workOn(machine);
        invariants.holds(
          'busy-kept',
          work === undefined || wasDue(machine),
          () => `${machine.name} is deleted while it runs session ${work}`,
        );
      }
    },
    launched: (launch, pool) => void capAtLaunch.set(launch, capOf(pool)),
    settled: (launch) => void capAtLaunch.delete(launch),
    forgotten(worker) {
      const pool = lateBorn.get(worker);
      const isGone = pool !== undefined || !exists(worker);
      if (pool !== undefined) orphaned(worker, pool);
      invariants.holds('row-last', isGone, () => `${worker} has no row any more, and its machine exists`);
    },
  };
}

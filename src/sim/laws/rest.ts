// What must be true when the load has stopped, nothing goes wrong any more, and enough time has passed.
import type { Store } from '#core/store.ts';
import type { SimCloud } from '../backend.ts';
import type { Invariant, Invariants } from '../invariants.ts';
import { isShort, readinessOf } from './idle.ts';

export interface RestOptions {
  readonly invariants: Invariants;
  readonly regions: Iterable<SimCloud>;
  readonly store: Store;
  /** Sessions whose acceptance was confirmed to a caller, and that have not ended. */
  readonly open: ReadonlySet<string>;
  readonly unanswered: number;
}

type Unrest = readonly [Invariant, string];

function* sessionUnrest({ store, open, unanswered }: RestOptions): Iterable<Unrest> {
  for (const id of open) yield ['all-ended', `session ${id} was accepted and has not ended`];
  for (const { id, worker } of store.view.sessions.all()) {
    yield ['all-ended', `session ${id} is ${worker === undefined ? 'queued' : `on ${worker}`}`];
  }
  if (unanswered > 0) yield ['all-ended', `${unanswered} requests were never answered`];
}

function* machineUnrest({ store, regions }: RestOptions): Iterable<Unrest> {
  const { workers, launches } = store.view;
  const machines = new Set<string>();
  for (const region of regions) {
    for (const { machine, launch } of region.machines()) {
      if (!launch) continue;
      machines.add(machine.name);
      if (!workers.get(machine.name)) yield ['none-leaked', `machine ${machine.name} has no worker`];
    }
  }
  for (const { id } of workers.all()) {
    if (!machines.has(id)) yield ['none-leaked', `worker ${id} has no machine`];
  }
  for (const { id } of launches.all()) yield ['none-leaked', `launch ${id} is not settled`];
}

function* poolUnrest({ store }: RestOptions): Iterable<Unrest> {
  const { pools, workers, agents, freezes } = store.view;
  for (const { id } of freezes.all()) yield ['at-rest', `${id} is frozen`];
  for (const pool of pools.all()) {
    if (pool.removal) yield ['at-rest', `pool ${pool.name} is still being removed`];
    const readiness = readinessOf(store, pool);
    if (isShort(pool, readiness)) yield ['at-rest', `pool ${pool.name} idles below its limits`];
    else if (readiness.isSurplus) yield ['at-rest', `pool ${pool.name} idles above its limits`];
  }
  for (const { id, drain, removal, parked } of workers.all()) {
    if (parked && !removal) continue;
    if (drain || removal || !agents.get(id)) yield ['at-rest', `worker ${id} is not in service`];
  }
}

/** The first thing that is not at rest. */
export function unrest(options: RestOptions): string | undefined {
  for (const look of [sessionUnrest, machineUnrest, poolUnrest]) {
    for (const [invariant, message] of look(options)) return `${invariant}: ${message}`;
  }
  return undefined;
}

/** Looks at everything once, at the very end. */
export function checkRest(options: RestOptions): void {
  const { invariants } = options;
  const looks = [
    ['all-ended', sessionUnrest],
    ['none-leaked', machineUnrest],
    ['at-rest', poolUnrest],
  ] as const;
  for (const [invariant, look] of looks) {
    const [first] = look(options);
    invariants.holds(invariant, first === undefined, () => first?.[1] ?? '');
  }
}

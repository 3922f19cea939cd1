// What sessions belong to: a pool, whose workers run them, or a computer, whose one machine does.
import type { Computer } from '#core/computer.ts';
import type { Pool } from '#core/pool.ts';
import type { Store } from '#core/store.ts';

type Views = Pick<Store, 'view'>;
type Labels = Readonly<Record<string, string>>;

/** An owner that takes new sessions and keeps those that wait. */
export type SessionOwner =
  | { readonly use: 'worker'; readonly id: string; readonly name: string; readonly pool: Pool }
  | { readonly use: 'computer'; readonly id: string; readonly name: string; readonly computer: Computer };

export const isComputerKept = (computer: Computer | undefined): computer is Computer =>
  computer !== undefined && !computer.removal && !computer.failure;

/** Undefined: it is being removed or gone, so what waits for it is cancelled. */
export function keptOwner({ view }: Views, id: string): SessionOwner | undefined {
  const pool = view.pools.get(id);
  if (pool) return pool.removal ? undefined : { use: 'worker', id, name: pool.name, pool };
  const computer = view.computers.get(id);
  return isComputerKept(computer) ? { use: 'computer', id, name: computer.name, computer } : undefined;
}

/** The owner whose machine of that name takes sessions now, with the labels that it adds. A freeze does not stop placing: it guards against acting on what we cannot see, and this agent is connected. */
export function openOwnerOf(
  { view }: Views,
  machine: string,
): { readonly id: string; readonly labels: Labels } | undefined {
  const worker = view.workers.get(machine);
  if (!worker) return openComputerOf({ view }, machine);
  if (worker.drain || worker.parked || worker.removal) return undefined;
  const pool = view.pools.get(worker.pool);
  if (!pool || pool.removal || pool.pausedAt !== undefined) return undefined;
  return { id: pool.id, labels: pool.spec.labels };
}

const NO_LABELS: Labels = {};

function openComputerOf({ view }: Views, machine: string) {
  const row = view.computerMachines.get(machine);
  if (!row || row.removal || !isComputerKept(view.computers.get(row.computer))) return undefined;
  return { id: row.computer, labels: NO_LABELS };
}

/** Whether there is a row of that machine: only without one is it certain that nothing runs there. */
export const hasMachine = ({ view }: Views, machine: string): boolean =>
  view.workers.get(machine) !== undefined || view.computerMachines.get(machine) !== undefined;

/** Whether that machine is on its way out, so that nothing is started there again. */
export function isLeaving({ view }: Views, machine: string): boolean {
  const worker = view.workers.get(machine);
  return worker ? Boolean(worker.drain || worker.removal) : view.computerMachines.get(machine)?.removal !== undefined;
}

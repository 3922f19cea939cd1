// How many slots an agent of a pool has: what agents report counts, and until one has joined what the definition says.
// An agent of Velda does not read the slots of the definition, and a file that users mount themselves may name others.
import type { Agent } from '#core/machine.ts';
import type { Pool, Scaling } from '#core/pool.ts';
import type { WorkersContext } from './context.ts';
import type { PoolMemory, ReportedSlots } from './pool-memory.ts';

/** Keeps what the newest worker of a pool reports; one that drains offers none, and says nothing. */
export function observeSlots({ store, pools }: WorkersContext, { id, owner, slots }: Agent): void {
  const worker = store.view.workers.get(id);
  const defined = store.view.pools.get(owner)?.spec.scaling;
  // One that came by itself is no measure for those that are launched.
  if (slots === 0 || worker?.offer === undefined || !defined) return;
  const memory = pools.of(owner);
  const { askedAt } = worker;
  if (askedAt < Math.max(memory.slotsSinceAt, memory.reportedSlots?.askedAt ?? Number.NEGATIVE_INFINITY)) return;
  memory.reportedSlots = reported(defined, slots, askedAt);
}

function reported(defined: Scaling, slots: number, askedAt: number): ReportedSlots {
  const scaling = slots === defined.slotsPerAgent ? defined : { ...defined, slotsPerAgent: slots };
  return { slots, askedAt, defined, scaling };
}

/** The definition of a pool was read: where its slots have changed, what older workers report no longer counts. */
export function observeDefinedSlots({ clock }: WorkersContext, { spec }: Pool, memory: PoolMemory): void {
  const { slotsPerAgent } = spec.scaling;
  const before = memory.reportedSlots;
  const isChanged = memory.slotsPerAgent !== undefined && memory.slotsPerAgent !== slotsPerAgent;
  memory.slotsPerAgent = slotsPerAgent;
  if (isChanged) memory.slotsSinceAt = clock.now();
  memory.reportedSlots = isChanged || !before ? undefined : reported(spec.scaling, before.slots, before.askedAt);
}

/** The limits of a pool, or of one that it may become, with the slots that its agents have. */
export function scalingOf({ spec: { scaling } }: Pool, { reportedSlots }: Readonly<PoolMemory>): Scaling {
  if (reportedSlots?.defined === scaling) return reportedSlots.scaling;
  if (reportedSlots?.defined.slotsPerAgent !== scaling.slotsPerAgent) return scaling;
  return { ...scaling, slotsPerAgent: reportedSlots.slots };
}

// Machines of kinds that cannot mark what they make: nobody knows whose they are until an agent joins from them.
import { Fault, retryDelayMs } from '#core/fault.ts';
import type { Machine } from '#core/provider.ts';
import type { LaunchRecord } from '#core/worker.ts';
import type { Kit } from './kit.ts';

/** Listed without mark and without record: it counts in the pool's size until someone knows it. */
export function noteUnknown(kit: Kit, pool: string, seen: { machine: Machine; offer: string }): void {
  const { unknown } = kit.memoryOf(pool);
  const known = unknown.get(seen.machine.name);
  if (known) return;
  unknown.set(seen.machine.name, { ...seen, sinceMs: kit.clock.monotonic(), isDeleting: false });
  kit.poke(pool);
}

/** Forgets those that two listings in a row did not show, and those that have become known. */
export function forgetUnknown(kit: Kit, pool: string, isStillUnknown: (name: string, offer: string) => boolean): void {
  const { unknown } = kit.memoryOf(pool);
  if (unknown.size === 0) return;
  for (const [name, { offer }] of unknown) {
    if (isStillUnknown(name, offer)) continue;
    unknown.delete(name);
    kit.poke(pool);
  }
}

/**
 * A launch that nobody answered may have made a machine under a name of its cloud's choosing: a stranger that came
 * since it was asked for is taken for it. Its name is answered, and it is unknown no longer.
 */
export function claimUnknown(kit: Kit, record: LaunchRecord): string | undefined {
  const { unknown } = kit.memoryOf(record.pool);
  if (unknown.size === 0 || isAnyCalling(kit, record.pool)) return undefined;
  for (const [name, { machine, offer, isDeleting }] of unknown) {
    const isNewer = machine.createdAt === 0 || machine.createdAt >= record.askedAt;
    if (offer !== record.offer || isDeleting || !isNewer) continue;
    unknown.delete(name);
    return name;
  }
  return undefined;
}

/** Then the stranger may belong to that call, whose answer will tell. */
export function isAnyCalling(kit: Kit, pool: string): boolean {
  for (const { id } of kit.store.view.launches.by('pool', pool)) {
    if (kit.launches.get(id)?.isCalling) return true;
  }
  return false;
}

/** Deletes a machine that stayed unknown for longer than its pool allows; a failure leaves it for the next pass. */
export function deleteUnknown(kit: Kit, pool: string, name: string): void {
  const { unknown } = kit.memoryOf(pool);
  const known = unknown.get(name);
  const offer = known && kit.store.view.offers.get(known.offer);
  const named = offer ?? kit.store.view.pools.get(pool)?.spec.offers.find(({ id }) => id === known?.offer);
  if (!known || known.isDeleting || !named) return;
  known.isDeleting = true;
  kit.start('delete unknown', async () => {
    const [outcome] = await kit.clouds
      .delete(named, [known.machine], { owner: pool, signal: kit.stopping })
      .catch((thrown) => [{ name, fault: Fault.from(thrown) }]);
    // A name that is left out says that nobody knows; and what is still listed long after the cloud agreed is deleted again.
    const fault = outcome ? outcome.fault : new Fault('unavailable', 'The cloud did not say what became of it.');
    const waitMs = fault ? retryDelayMs(fault, 1, kit.random.next()) : kit.times.deleteAgainMs;
    if (fault) kit.log('warn', 'unknown machine not deleted', { pool, machine: name, error: fault.message, waitMs });
    const isListed = (): boolean => kit.clouds.listing(known.offer)?.machines.has(name) === true;
    do await kit.clock.sleep(waitMs, kit.stopping);
    while (!fault && !kit.stopping.aborted && unknown.get(name) === known && !isListed());
    known.isDeleting = false;
    kit.poke(pool);
  });
}

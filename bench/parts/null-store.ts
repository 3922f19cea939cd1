import { Fault } from '#core/fault.ts';
import type { Store } from '#core/store.ts';
import type { Driver } from '#store/driver.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';

/** A store whose disk takes everything at once and keeps nothing: what is left is the work in memory. */
export function openNullStore(): Promise<Store> {
  const driver: Driver = { ...memoryDriver(emptyDisk()), write: async () => {} };
  return openStore(driver, (fault) => {
    throw new Fault('internal', 'A store without a disk failed.', { cause: fault });
  });
}

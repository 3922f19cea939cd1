import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { Store } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk, memoryDriver } from '../store/memory.ts';
import { openStore } from '../store/store.ts';
import { openFollowed } from './table.ts';

/** Counts who follows a store: each of them is called for each change. */
function countFollowers(store: Store): { readonly store: Store; count(): number } {
  let count = 0;
  const counted =
    <A extends unknown[]>(follow: (...how: A) => () => void) =>
    (...how: A): (() => void) => {
      const stop = follow(...how);
      count += 1;
      return () => {
        count -= 1;
        stop();
      };
    };
  return {
    store: { ...store, onChange: counted(store.onChange), onDurable: counted(store.onDurable) } as Store,
    count: () => count,
  };
}

it('a server follows no row for the dashboard before its first reader, and two minutes after its last', async () => {
  const clock = new VirtualClock();
  const { store, count } = countFollowers(await openStore(memoryDriver(emptyDisk()), () => {}));
  const { hub, figures } = openFollowed({ store, clock });
  expect(count()).toBe(0);

  await figures.now();
  const leave = hub.subscribe(() => {});
  expect(count()).toBeGreaterThan(4);

  leave();
  await clock.advance(2 * MINUTE_MS);
  expect(count()).toBe(0);
});

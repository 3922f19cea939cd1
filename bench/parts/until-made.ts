import type { Store } from '#core/store.ts';

/** Resolves when the cloud has confirmed that many workers. */
export function untilMade(store: Store, count: number): Promise<void> {
  const confirmed = new Set<string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = store.onChange('workers', (after, _before, id) => {
    if (after?.createdAt === undefined) confirmed.delete(id);
    else confirmed.add(id);
    if (confirmed.size < count) return;
    end();
    resolve();
  });
  return promise;
}

import { makeBriefMap } from './brief-map.ts';

/** A priority queue: the least item first; any item can be replaced or removed, in O(log n). */
export interface Heap<T extends { readonly id: string }> {
  /** Replaces an item with the same id. */
  put(item: T): void;
  remove(id: string): void;
  first(): T | undefined;
  /** In no order. */
  items(): readonly T[];
  readonly size: number;
}

export function makeHeap<T extends { readonly id: string }>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];
  const places = makeBriefMap<number>();

  function set(item: T, at: number): void {
    items[at] = item;
    places.set(item.id, at);
  }

  function rise(item: T, from: number): number {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!isBefore(item, parent)) break;
      set(parent, at);
      at = above;
    }
    return at;
  }

  function sink(item: T, from: number): number {
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1] as T, items[child] as T)) child += 1;
      if (!isBefore(items[child] as T, item)) break;
      set(items[child] as T, at);
      at = child;
    }
    return at;
  }

  const reorder = (item: T, at: number): void => set(item, sink(item, rise(item, at)));

  return {
    put(item) {
      const at = places.get(item.id);
      reorder(item, at ?? items.push(item) - 1);
    },
    remove(id) {
      const at = places.get(id);
      if (at === undefined) return;
      places.delete(id);
      const last = items.pop() as T;
      if (at < items.length) reorder(last, at);
    },
    first: () => items[0],
    items: () => items,
    get size() {
      return items.length;
    },
  };
}

/**
 * A priority queue: the least item first; any item can be replaced or removed, in O(log n). A class, since each pool has
 * two or more: closures would take several times its memory.
 */
export class Heap<T extends { readonly id: string }> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #places = new Map<string, number>();

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** Replaces an item with the same id. */
  put(item: T): void {
    const at = this.#places.get(item.id);
    this.#reorder(item, at ?? this.#items.push(item) - 1);
  }

  remove(id: string): void {
    const at = this.#places.get(id);
    if (at === undefined) return;
    this.#places.delete(id);
    const last = this.#items.pop() as T;
    if (at < this.#items.length) this.#reorder(last, at);
  }

  first(): T | undefined {
    return this.#items[0];
  }

  /** In no order. */
  items(): readonly T[] {
    return this.#items;
  }

  #reorder(item: T, at: number): void {
    this.#set(item, this.#sink(item, this.#rise(item, at)));
  }

  #set(item: T, at: number): void {
    this.#items[at] = item;
    this.#places.set(item.id, at);
  }

  #rise(item: T, from: number): number {
    const items = this.#items;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!this.#isBefore(item, parent)) break;
      this.#set(parent, at);
      at = above;
    }
    return at;
  }

  #sink(item: T, from: number): number {
    const items = this.#items;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#isBefore(items[child + 1] as T, items[child] as T)) child += 1;
      if (!this.#isBefore(items[child] as T, item)) break;
      this.#set(items[child] as T, at);
      at = child;
    }
    return at;
  }
}

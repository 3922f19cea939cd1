/** What comes next on the model's clock; of equal times, what was put first. */
export interface EventHeap<E extends { readonly atMs: number }> {
  put(event: E): void;
  first(): E | undefined;
  take(): E | undefined;
}

interface Entry<E> {
  readonly event: E;
  readonly order: number;
}

export function openEventHeap<E extends { readonly atMs: number }>(): EventHeap<E> {
  const entries: Entry<E>[] = [];
  let order = 0;

  const isBefore = (a: Entry<E>, b: Entry<E>): boolean =>
    a.event.atMs < b.event.atMs || (a.event.atMs === b.event.atMs && a.order < b.order);

  function rise(entry: Entry<E>, from: number): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above] as Entry<E>;
      if (!isBefore(entry, parent)) break;
      entries[at] = parent;
      at = above;
    }
    entries[at] = entry;
  }

  function sink(entry: Entry<E>): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && isBefore(entries[child + 1] as Entry<E>, entries[child] as Entry<E>))
        child += 1;
      if (!isBefore(entries[child] as Entry<E>, entry)) break;
      entries[at] = entries[child] as Entry<E>;
      at = child;
    }
    entries[at] = entry;
  }

  return {
    put: (event) => rise({ event, order: order++ }, entries.length),
    first: () => entries[0]?.event,
    take() {
      const first = entries[0];
      const last = entries.pop();
      if (first !== last && last) sink(last);
      return first?.event;
    },
  };
}

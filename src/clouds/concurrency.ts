/** Limits concurrent calls, in all and for each owner, so that one that hangs leaves room for others. */
export interface ConcurrencyLimit {
  /** Runs when there is room. A caller that gave up while waiting is asked to end by its own signal. */
  pass<T>(owner: string, run: () => Promise<T>): Promise<T>;
  isEmpty(): boolean;
}

export function limitConcurrency(width: number, widthOfOwner: number): ConcurrencyLimit {
  const waiting: { readonly owner: string; readonly enter: () => void }[] = [];
  const underWay = new Map<string, number>();
  let total = 0;

  const countOf = (owner: string): number => underWay.get(owner) ?? 0;
  const hasRoom = (owner: string): boolean => total < width && countOf(owner) < widthOfOwner;

  function enter(owner: string): void {
    total += 1;
    underWay.set(owner, countOf(owner) + 1);
  }

  function leave(owner: string): void {
    total -= 1;
    const rest = countOf(owner) - 1;
    if (rest > 0) underWay.set(owner, rest);
    else underWay.delete(owner);
    const next = waiting.findIndex((entry) => hasRoom(entry.owner));
    if (next < 0) return;
    const [entry] = waiting.splice(next, 1);
    if (!entry) return;
    enter(entry.owner);
    entry.enter();
  }

  return {
    isEmpty: () => total === 0 && waiting.length === 0,
    async pass(owner, run) {
      if (hasRoom(owner)) enter(owner);
      else await new Promise<void>((resolve) => waiting.push({ owner, enter: resolve }));
      try {
        return await run();
      } finally {
        leave(owner);
      }
    },
  };
}

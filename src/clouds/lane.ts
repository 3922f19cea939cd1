/** Bounds how many calls are under way; no pool can take the whole width, so one that hangs leaves room for others. */
export interface Lane {
  /** Runs when there is room. A caller that gave up while waiting is asked to end by its own signal. */
  pass<T>(pool: string, run: () => Promise<T>): Promise<T>;
}

export function openLane(width: number, widthOfPool: number): Lane {
  const waiting: { readonly pool: string; readonly enter: () => void }[] = [];
  const underWay = new Map<string, number>();
  let total = 0;

  const countOf = (pool: string): number => underWay.get(pool) ?? 0;
  const hasRoom = (pool: string): boolean => total < width && countOf(pool) < widthOfPool;

  function enter(pool: string): void {
    total += 1;
    underWay.set(pool, countOf(pool) + 1);
  }

  function leave(pool: string): void {
    total -= 1;
    const rest = countOf(pool) - 1;
    if (rest > 0) underWay.set(pool, rest);
    else underWay.delete(pool);
    const next = waiting.findIndex((entry) => hasRoom(entry.pool));
    if (next < 0) return;
    const [entry] = waiting.splice(next, 1);
    if (!entry) return;
    enter(entry.pool);
    entry.enter();
  }

  return {
    async pass(pool, run) {
      if (hasRoom(pool)) enter(pool);
      else await new Promise<void>((resolve) => waiting.push({ pool, enter: resolve }));
      try {
        return await run();
      } finally {
        leave(pool);
      }
    },
  };
}

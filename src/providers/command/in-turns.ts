// Scripts may take minutes each, and what is behind them is not ours to flood.
const AT_ONCE = 4;

/** Does it for each, a few at a time; answers in their order. */
export async function inTurns<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    results.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}

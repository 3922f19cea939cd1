/** Reads sources one after the other, each to its end. The first answers of so many that follow are on their way meanwhile. */
export async function* readAhead<T>(sources: Iterable<AsyncIterable<T>>, ahead: number): AsyncGenerator<T> {
  const opened: { readonly iterator: AsyncIterator<T>; readonly first: Promise<IteratorResult<T>> }[] = [];
  const closed = sources[Symbol.iterator]();

  function openNext(): void {
    const source = closed.next();
    if (source.done) return;
    const iterator = source.value[Symbol.asyncIterator]();
    const first = iterator.next();
    // Its failure counts when it is its turn.
    first.catch(() => {});
    opened.push({ iterator, first });
  }

  for (let n = 0; n <= ahead; n++) openNext();
  try {
    for (let source = opened[0]; source; source = opened[0]) {
      const { iterator, first } = source;
      for (let answer = await first; !answer.done; answer = await iterator.next()) yield answer.value;
      opened.shift();
      openNext();
    }
  } finally {
    for (const { iterator } of opened) iterator.return?.().catch(() => {});
  }
}

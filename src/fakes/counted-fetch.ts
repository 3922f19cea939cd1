/** A `fetch` that knows how many of its requests are on their way. */
export interface CountedFetch {
  readonly fetch: typeof globalThis.fetch;
  running(): number;
}

export function countedFetch(inner: typeof globalThis.fetch): CountedFetch {
  let running = 0;
  return {
    fetch(...given) {
      running += 1;
      return inner(...given).finally(() => {
        running -= 1;
      });
    },
    running: () => running,
  };
}

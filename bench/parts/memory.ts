/** What is in use after everything unused was collected, in bytes. */
export interface InUse {
  /** Objects and what they hold outside the heap. */
  readonly heap: number;
  /** As the system counts it. */
  readonly rss: number;
}

const COLLECTIONS = 4;

/** Needs `--expose-gc`. */
export async function inUse(): Promise<InUse> {
  for (let n = 0; n < COLLECTIONS; n++) {
    // As under memory pressure: otherwise V8 keeps up to 40 MB of empty pages, more or less of them each time.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise(setImmediate);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

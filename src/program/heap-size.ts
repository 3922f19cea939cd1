// How much room V8 takes from the system, where its own rules do not fit a server that rests and then is busy.
import { Session } from 'node:inspector/promises';
import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';

// A collection of a larger heap would delay the start, and free little beside what stays.
const WORTHWHILE_BYTES = 96 * 2 ** 20;

/**
 * Returns memory that only the start needed to the system: V8 would keep it as room to grow, some 35 MB of an idle server.
 * Takes some 60 ms, so it runs before the first connection.
 */
export async function releaseStartupMemory(): Promise<void> {
  if (memoryUsage().heapUsed > WORTHWHILE_BYTES) return;
  const session = new Session();
  session.connect();
  // As under memory pressure: it also shrinks the young generation.
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

// From the 1 MB that V8 leaves at rest to its most of 16 MB in one step.
const GROWTH_FACTOR = 16;

/**
 * Lets the young generation grow to its full size at once. V8 shrinks it to 1 MB whenever little is allocated, and doubles
 * it only when more objects have survived than fit into it. Of sessions, few survive: seconds after a rest it was still
 * collected fifty times a second, which took 4 to 9 % of all processor time.
 */
export function growYoungGenerationAtOnce(): void {
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR}`);
}

// Starting leaves garbage behind, and V8 keeps the room that it took as room to grow: some 35 MB of an idle server.
import { Session } from 'node:inspector/promises';
import { memoryUsage } from 'node:process';

// A collection of a larger heap would delay the start, and free little beside what stays.
const WORTHWHILE_BYTES = 96 * 2 ** 20;

/** Returns memory that only the start needed to the system. Takes some 60 ms, so it runs before the first connection. */
export async function releaseStartupMemory(): Promise<void> {
  if (memoryUsage().heapUsed > WORTHWHILE_BYTES) return;
  const session = new Session();
  session.connect();
  // As under memory pressure: it also shrinks the young generation.
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}

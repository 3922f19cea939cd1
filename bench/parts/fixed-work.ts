// The same work in every version of the program: a yardstick must not change. It does what the program does most.
import { median } from './numbers.ts';
import { threadCpuMs } from './stalls.ts';

const ROWS = 10_000;

function fixedWork(): number {
  const rows = new Map<string, { readonly id: string; readonly pool: string; readonly at: number }>();
  for (let n = 0; n < ROWS; n++) {
    const id = `m-${(n * 7_919) % ROWS}`;
    rows.set(id, { id, pool: `pool-${n % 100}`, at: n });
  }
  const texts = Array.from(rows.values(), (row) => JSON.stringify(row));
  const read = texts.map((text) => JSON.parse(text) as { id: string; at: number });
  read.sort((a, b) => (a.id < b.id ? -1 : 1));
  return read.reduce((sum, { at }, place) => sum + (at ^ place), 0);
}

/** Its processor time in milliseconds, once V8 has compiled it. */
export function fixedWorkMs(rounds: number): number {
  const took: number[] = [];
  for (let round = -3; round < rounds; round++) {
    const startMs = threadCpuMs();
    fixedWork();
    if (round >= 0) took.push(threadCpuMs() - startMs);
  }
  return median(took);
}

import type { Bench } from './bench.ts';
import { benches } from './benches.gen.ts';

/** Everything that is measured, in the order of running. */
export const BENCHES: readonly Bench[] = benches.toSorted((a, b) => a.order - b.order);

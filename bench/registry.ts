import type { Bench } from './bench.ts';
import { decisions } from './decisions.ts';

/** Everything that is measured, in the order of running. */
export const BENCHES: readonly Bench[] = [decisions];

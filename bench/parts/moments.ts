/** Nanoseconds on the machine's monotonic clock, which has the same zero in every process. */
export const machineNow = (): bigint => process.hrtime.bigint();

/** The milliseconds between a moment, as text, and now. */
export const sinceMs = (moment: string): number => Number(machineNow() - BigInt(moment)) / 1_000_000;

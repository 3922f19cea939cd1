/** Nanoseconds on the machine's monotonic clock: unlike `performance.now()`, with the same zero in every thread. */
const machineNow = (): bigint => process.hrtime.bigint();

const NANOSECONDS = 1_000_000;

/** When the lease ends: written by the thread that renews it, read by all others without asking. */
export interface LeaseEnd {
  /** The time before a renewal is asked for, from which its span counts. */
  mark(): bigint;
  /** The lease goes on until `spanMs` after the mark. */
  extend(mark: bigint, spanMs: number): void;
  /** The lease is over. */
  end(): void;
  leftMs(): number;
}

export function newLeaseMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
}

export function leaseEnd(memory: SharedArrayBuffer): LeaseEnd {
  const cell = new BigInt64Array(memory);
  return {
    mark: machineNow,
    extend: (mark, spanMs) => void Atomics.store(cell, 0, mark + BigInt(spanMs * NANOSECONDS)),
    end: () => void Atomics.store(cell, 0, 0n),
    leftMs: () => Math.max(0, Number(Atomics.load(cell, 0) - machineNow()) / NANOSECONDS),
  };
}

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

/** Whether the program, for which another thread renews the lease, is still alive. */
export interface Pulse {
  /** Heartbeat of the program's own thread. */
  beat(): void;
  /** How long ago it last did. */
  sinceBeatMs(): number;
}

export function newLeaseMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
}

export function leaseEnd(memory: SharedArrayBuffer): LeaseEnd & Pulse {
  const cell = new BigInt64Array(memory);
  return {
    mark: machineNow,
    extend: (mark, spanMs) => void Atomics.store(cell, 0, mark + BigInt(spanMs * NANOSECONDS)),
    end: () => void Atomics.store(cell, 0, 0n),
    leftMs: () => Math.max(0, Number(Atomics.load(cell, 0) - machineNow()) / NANOSECONDS),
    beat: () => void Atomics.store(cell, 1, machineNow()),
    sinceBeatMs: () => Number(machineNow() - Atomics.load(cell, 1)) / NANOSECONDS,
  };
}

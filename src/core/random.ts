import { randomBytes, randomFillSync } from 'node:crypto';

/** Where chance comes from, so that a simulated world can be repeated from its seed. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** A number in [0, 1). */
  next(): number;
}

// Asking the system costs the same for one byte as for many: ids, of which every session takes one, share what it gives.
const POOL_BYTES = 4_096;
// Secrets are longer than that, and come straight from the system.
const LONGEST_SHARED = 16;

function systemBytes(): Random['bytes'] {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (count) => {
    if (count > LONGEST_SHARED) return randomBytes(count);
    if (used + count > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.slice(used - count, used);
  };
}

export const systemRandom: Random = {
  bytes: systemBytes(),
  next: () => Math.random(),
};

/** The mulberry32 generator: small, fast and the same on every machine. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count; at++) bytes[at] = Math.floor(next() * 256);
      return bytes;
    },
  };
}

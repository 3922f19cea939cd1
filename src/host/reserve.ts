// Space that is set aside on a disk: a full one then still takes the few small files that end what fills it.
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { Fault } from '#core/fault.ts';

const RESERVED_BYTES = 1024 * 1024;
// Room for several small files, whatever the size of a block.
const STEP_BYTES = 128 * 1024;
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

export interface Reserve {
  /** Does it; where the disk is full, makes room and does it once more. */
  withRoom<T>(act: () => T): T;
  /** Sets aside again what was given away, as far as there is space. */
  renew(): void;
}

/** Whether something failed because its disk is full. */
export function isDiskFull(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (FULL.has((error as NodeJS.ErrnoException).code)) return true;
  }
  return thrown instanceof Fault && thrown.at === 'disk';
}

function fill(path: string): void {
  const file = openSync(path, 'a', 0o600);
  try {
    const missing = RESERVED_BYTES - fstatSync(file).size;
    // Zeros that are written take space; a file that is only long does not.
    if (missing > 0) writeSync(file, Buffer.alloc(missing));
  } finally {
    closeSync(file);
  }
}

function release(path: string): boolean {
  const file = openSync(path, 'r+');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return false;
    ftruncateSync(file, Math.max(0, size - STEP_BYTES));
    return true;
  } finally {
    closeSync(file);
  }
}

export function openReserve(path: string): Reserve {
  function makeRoom(): boolean {
    try {
      return release(path);
    } catch {
      return false;
    }
  }

  return {
    withRoom(act) {
      try {
        return act();
      } catch (thrown) {
        if (!isDiskFull(thrown) || !makeRoom()) throw thrown;
        return act();
      }
    },
    renew() {
      try {
        fill(path);
      } catch {
        // A full disk has no space to set aside; what was there before stays.
      }
    },
  };
}

import type { Readable, Writable } from 'node:stream';

/** What a tunnel connects to on this machine. */
export interface FarEnd {
  readonly readable: Readable;
  /** Undefined where it takes no bytes. */
  readonly writable?: Writable | undefined;
  /** Called when `readable` has ended; throws a `Fault` where what was read is not whole. */
  finished(): Promise<void>;
  /** Drops it. */
  destroy(): void;
}

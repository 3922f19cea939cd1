// Just enough of the ustar format (POSIX.1-1988) to write an archive that every tar reads.
import { Buffer } from 'node:buffer';

export interface TarEntry {
  /** A folder where it ends in `/`. */
  readonly name: string;
  readonly mode: number;
  readonly bytes: number;
  /** Numbers of user and group; absent: root. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

const BLOCK = 512;
const ROOT = { uid: 0, gid: 0 };

function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, '0')}\0`;
}

/** The header of one file or folder. The time of change is fixed, so that equal content gives equal bytes. */
export function header({ name, mode, bytes, owner = ROOT }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(owner.uid, 8), 108);
  block.write(octal(owner.gid, 8), 116);
  block.write(octal(bytes, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(name.endsWith('/') ? '5' : '0', 156);
  block.write('ustar\0', 257);
  block.write('00', 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** What follows the content of a file up to the next block. */
export function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}

export const END = Buffer.alloc(2 * BLOCK);

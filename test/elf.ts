// Which shared libraries an executable for Linux asks for: the DT_NEEDED entries of its dynamic section (elf(5)). For 64-bit
// little-endian files of any processor, so that a test can look at a Node that cannot run on this machine.
import { closeSync, openSync, readSync } from 'node:fs';

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const PROGRAM_HEADER_BYTES = 56;
const ENTRY_BYTES = 16;
const LONGEST_NAME_BYTES = 256;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

function segmentOf(header: Buffer): Segment {
  const number = (at: number): number => Number(header.readBigUInt64LE(at));
  return { type: header.readUInt32LE(0), offset: number(8), address: number(16), size: number(32) };
}

/** The names that the loader looks for, such as `libc.so.6`. */
export function neededLibraries(file: string): string[] {
  const descriptor = openSync(file, 'r');
  const read = (offset: number, size: number): Buffer => {
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, size, offset));
  };
  try {
    const head = read(0, 64);
    if (head.toString('latin1', 0, 6) !== '\x7fELF\x02\x01')
      throw new Error(`${file} is no 64-bit executable of Linux`);
    const start = Number(head.readBigUInt64LE(32));
    const segments = Array.from({ length: head.readUInt16LE(56) }, (_, index) =>
      segmentOf(read(start + index * PROGRAM_HEADER_BYTES, PROGRAM_HEADER_BYTES)),
    );
    const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
    if (!dynamic) return [];
    const table = read(dynamic.offset, dynamic.size);
    const entries = Array.from({ length: Math.floor(table.length / ENTRY_BYTES) }, (_, index) => ({
      tag: Number(table.readBigUInt64LE(index * ENTRY_BYTES)),
      value: Number(table.readBigUInt64LE(index * ENTRY_BYTES + 8)),
    }));
    // The table of names is given by its address in memory.
    const names = entries.find(({ tag }) => tag === DT_STRTAB)?.value ?? 0;
    const within = segments.find(
      ({ type, address, size }) => type === PT_LOAD && names >= address && names < address + size,
    );
    if (!within) throw new Error(`${file} has no table of names`);
    return entries
      .filter(({ tag }) => tag === DT_NEEDED)
      .map(({ value }) => {
        const bytes = read(within.offset + names - within.address + value, LONGEST_NAME_BYTES);
        return bytes.toString('latin1', 0, bytes.indexOf(0));
      });
  } finally {
    closeSync(descriptor);
  }
}

/** What a machine with glibc and the runtime library of C++ has; the latter brings libgcc_s. */
const BASE_LIBRARIES = /^(ld-linux-.*|lib(c|dl|m|pthread|rt|stdc\+\+|gcc_s)\.so\.\d+)$/;

/** What an executable asks for beyond libc and libstdc++. */
export function furtherLibraries(file: string): string[] {
  return neededLibraries(file).filter((name) => !BASE_LIBRARIES.test(name));
}

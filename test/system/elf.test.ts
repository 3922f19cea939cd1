import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { furtherLibraries, neededLibraries } from '../elf.ts';
import { openWorld, ROOT } from './harness/world.ts';

/** A 64-bit executable that asks for the libraries: one loaded segment with all of it, and its dynamic section. */
function executable(libraries: readonly string[]): Buffer {
  const NAMES_AT = 0x200;
  const MEMORY_AT = 0x400000;
  const names = `\0${libraries.join('\0')}\0`;
  const bytes = Buffer.alloc(NAMES_AT + names.length);
  bytes.write('\x7fELF\x02\x01', 'latin1');
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(2, 56);
  const entries = [
    ...libraries.map((name) => [1, names.indexOf(`\0${name}\0`) + 1] as const),
    [5, MEMORY_AT + NAMES_AT] as const,
    [0, 0] as const,
  ];
  const segments = [
    [1, 0, MEMORY_AT, bytes.length],
    [2, 0x100, MEMORY_AT + 0x100, entries.length * 16],
  ] as const;
  for (const [index, [type, offset, address, size]] of segments.entries()) {
    const at = 64 + index * 56;
    bytes.writeUInt32LE(type, at);
    bytes.writeBigUInt64LE(BigInt(offset), at + 8);
    bytes.writeBigUInt64LE(BigInt(address), at + 16);
    bytes.writeBigUInt64LE(BigInt(size), at + 32);
  }
  for (const [index, [tag, value]] of entries.entries()) {
    bytes.writeBigUInt64LE(BigInt(tag), 0x100 + index * 16);
    bytes.writeBigUInt64LE(BigInt(value), 0x108 + index * 16);
  }
  bytes.write(names, NAMES_AT, 'latin1');
  return bytes;
}

test('an executable that asks for libatomic is told from one that asks for libc and libstdc++ alone', (context) => {
  const world = openWorld(context);
  const write = (name: string, libraries: readonly string[]): string => {
    writeFileSync(world.path(name), executable(libraries));
    return world.path(name);
  };
  const plain = ['libdl.so.2', 'libstdc++.so.6', 'libc.so.6', 'ld-linux-aarch64.so.1'];

  expect(neededLibraries(write('plain', plain))).toEqual(plain);
  expect(furtherLibraries(world.path('plain'))).toEqual([]);
  expect(furtherLibraries(write('other', [...plain, 'libatomic.so.1']))).toEqual(['libatomic.so.1']);
});

const fetched = readdirSync(join(ROOT, 'node_modules'))
  .map((name) => join(ROOT, 'node_modules', name, 'bin/node'))
  .filter((path) => path.includes('/node-linux-') && existsSync(path));

test.skipIf(fetched.length === 0)(
  'the Node that npm fetches for a checkout needs libc and libstdc++ alone (where this machine needed none, test:real looks at it)',
  () => {
    expect(fetched.flatMap(furtherLibraries)).toEqual([]);
  },
);

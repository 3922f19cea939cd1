import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mustRunOn, unameOf } from './runtime.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-runtime-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The beginning of an executable for Linux. */
function executable(machine: number): string {
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 'latin1');
  header.writeUInt16LE(machine, 18);
  const path = join(folder, `for-${machine}`);
  writeFileSync(path, header);
  return path;
}

it.each([
  ['linux-x64', 'Linux', 'x86_64'],
  ['linux-arm64', 'Linux', 'aarch64'],
  ['darwin-x64', 'Darwin', 'x86_64'],
  ['darwin-arm64', 'Darwin', 'arm64'],
])('%s is %s %s to uname', (platform, system, machine) => {
  expect(unameOf(platform)).toEqual({ system, machine });
});

describe('a runtime', () => {
  it('of the machine that it is named for is taken', () => {
    mustRunOn({ platform: 'linux-x64', path: executable(62) });
    mustRunOn({ platform: 'linux-arm64', path: executable(183) });
    mustRunOn({ platform: `${process.platform}-${process.arch}`, path: process.execPath });
  });

  it('of another machine, of none and of nowhere is refused with its place', () => {
    const text = join(folder, 'text');
    writeFileSync(text, '#!/bin/sh');
    const refusalOf = (path: string): unknown => {
      try {
        return mustRunOn({ platform: 'linux-arm64', path });
      } catch (thrown) {
        return thrown;
      }
    };

    expect(refusalOf(executable(62))).toMatchObject({
      kind: 'invalid',
      at: 'agent.runtimes.linux-arm64',
      message: `${join(folder, 'for-62')} is for linux-x64, not for linux-arm64.`,
    });
    expect(refusalOf(text)).toMatchObject({
      message: expect.stringContaining('is not an executable for linux-arm64'),
    });
    expect(refusalOf(join(folder, 'nowhere'))).toMatchObject({ message: expect.stringContaining('ENOENT') });
  });
});

import { expect, test } from 'vitest';
import { readCommit, readVersion, versionFor } from './version.ts';

test('the version names the commit only where a command line asks for the version', () => {
  const commit = readCommit();
  const full = commit === undefined ? readVersion() : `${readVersion()} (${commit})`;

  expect(versionFor(['--version'])).toBe(full);
  expect(versionFor(['version'])).toBe(full);
  expect(versionFor(['pool', 'ls'])).toBe(readVersion());
  expect(commit ?? '0'.repeat(12)).toMatch(/^[0-9a-f]{12,}$/);
});

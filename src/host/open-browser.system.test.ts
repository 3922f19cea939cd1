import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openBrowser } from './open-browser.ts';

/** A machine with that `xdg-open`; without one where it is undefined. */
function machineWith(script: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-browser-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (script !== undefined) writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

const ADDRESS = 'http://127.0.0.1:1/login?code=a b$(id)';

test('an address is opened as one word by the opener of the system', async () => {
  const folder = machineWith('printf "%s|" "$@" >"$OPENED"');
  vi.stubEnv('OPENED', join(folder, 'opened'));

  expect(await openBrowser(ADDRESS, 'linux')).toBe(true);
  expect(readFileSync(join(folder, 'opened'), 'utf8')).toBe(`${ADDRESS}|`);
});

test('no opener, one that fails, and a system without one mean that no browser was opened', async () => {
  machineWith(undefined);
  expect(await openBrowser(ADDRESS, 'linux')).toBe(false);
  machineWith('exit 3');
  expect(await openBrowser(ADDRESS, 'linux')).toBe(false);
  expect(await openBrowser(ADDRESS, 'aix')).toBe(false);
});

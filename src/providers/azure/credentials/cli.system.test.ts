import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { going } from '#core/testing/going.ts';
import { until } from '#core/testing/until.ts';
import { processStart } from '#host/processes.ts';
import { cliToken } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-az-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program in the place of az. */
function az(script: string): string {
  const path = join(folder, 'az');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

it('takes the token that az prints for a resource', async () => {
  const program = az(`echo '{"accessToken": "for '"$*"'", "expires_on": 1800000000}'`);

  expect(await cliToken(systemClock, 'r1', going(), program)).toEqual({
    value: 'for account get-access-token --resource r1 --output json',
    expiresAt: 1_800_000_000_000,
  });
});

it('is nothing where az is not installed', async () => {
  expect(await cliToken(systemClock, 'r1', going(), join(folder, 'no-az'))).toBeUndefined();
});

it('says what az says where it is not logged in, and shows nothing of an answer that it cannot read', async () => {
  const out = az(`echo "Please run 'az login' to setup account." >&2; exit 1`);
  await expect(cliToken(systemClock, 'r1', going(), out)).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: "az account get-access-token failed: Please run 'az login' to setup account.",
  });
  const half = az(`echo '{"accessToken": "planted", "expiresOn": "2026-01-01 10:00:00"}'`);
  await expect(cliToken(systemClock, 'r1', going(), half)).rejects.toMatchObject({
    kind: 'unauthenticated',
    message: expect.not.stringContaining('planted'),
  });
});

it('ends az when the question is given up', async () => {
  const giveUp = new AbortController();
  const pid = join(folder, 'pid');
  const call = cliToken(
    systemClock,
    'r1',
    giveUp.signal,
    az(`echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 1000`),
  );
  await until('az runs', () => existsSync(pid));
  giveUp.abort();

  await expect(call).rejects.toMatchObject({ kind: 'unavailable' });
  await until('az is gone', () => processStart(Number(readFileSync(pid, 'utf8'))) === undefined);
});

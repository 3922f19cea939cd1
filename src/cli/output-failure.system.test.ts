import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MAIN = `${import.meta.dirname}/../main.ts`;

async function ended(script: string): Promise<{ code: number; stderr: string }> {
  const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(MAIN)}`;
  const words = ['-o', 'pipefail', '-c', script.replace('MUSTER', command)];
  return promisify(execFile)('bash', words).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
}

// Linux has a disk that is always full.
it.skipIf(!existsSync('/dev/full'))(
  'says once that the disk is full, and ends as where the other side is down',
  async () => {
    const { code, stderr } = await ended('MUSTER completion bash > /dev/full');

    expect(stderr).toMatch(/^muster: Cannot write the output: ENOSPC\.\n {2}Free space .*\n$/);
    expect(code).toBe(9);
  },
);

it('says nothing where the reader closes the pipe', async () => {
  const { code, stderr } = await ended('MUSTER completion bash | (exec 0<&-)');

  expect(stderr).toBe('');
  expect(code).toBe(141);
});

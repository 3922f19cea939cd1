import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const HEAP_SIZE = fileURLToPath(new URL('./heap-size.ts', import.meta.url));

// 300 live rows at a time, each soon replaced: what a server makes of sessions.
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { growYoungGenerationAtOnce, releaseStartupMemory } from ${JSON.stringify(HEAP_SIZE)};
  const youngBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  await releaseStartupMemory();
  if (process.argv[1] === 'at once') growYoungGenerationAtOnce();
  const atRest = youngBytes();
  const rows = [];
  for (let n = 0; n < 600_000; n++) rows[n % 300] = { n, text: 'row ' + n };
  console.log(JSON.stringify({ atRest, busy: youngBytes() }));
`;

async function youngGeneration(how: string): Promise<{ readonly atRest: number; readonly busy: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM, how]);
  return JSON.parse(stdout);
}

const MB = 2 ** 20;

test('The young generation of a server is small at rest, and has its full size as soon as it is busy.', async () => {
  const { atRest, busy } = await youngGeneration('at once');
  expect(atRest).toBeLessThan(2 * MB);
  expect(busy).toBeGreaterThanOrEqual(24 * MB);
});

test('Left to V8, it would stay a fraction of that.', async () => {
  const { busy } = await youngGeneration('as V8 does');
  expect(busy).toBeLessThan(24 * MB);
});

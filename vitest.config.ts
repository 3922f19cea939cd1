import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Limits on time are there for what hangs, never for what is slow: eight busy loops beside the tests must not reach them.
const UNIT_MS = 300_000;
const SYSTEM_MS = 600_000;

// Tests start threads and programs by the dozen: none of them compiles, or strips of its types, what another has. The same
// folder as that of the program itself.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');

// Files share one process per core: no test may leave module state or patched globals behind.
// `system` starts real servers, agents and databases.
export default defineConfig({
  test: {
    // One more than there are cores: system tests spend a third of their time waiting for processes and sockets.
    maxWorkers: availableParallelism() + 1,
    // For the simulated AWS, which takes any key.
    env: { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-nobody', AWS_REGION: 'us-west-2' },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts', 'bench/**/*.test.ts', 'test/house/**/*.test.ts'],
          exclude: ['src/**/*.system.test.ts'],
          pool: 'forks',
          isolate: false,
          testTimeout: UNIT_MS,
          hookTimeout: UNIT_MS,
        },
      },
      {
        test: {
          name: 'system',
          include: ['src/**/*.system.test.ts', 'test/system/**/*.test.ts'],
          globalSetup: 'test/system/harness/built.ts',
          pool: 'forks',
          isolate: false,
          testTimeout: SYSTEM_MS,
          hookTimeout: SYSTEM_MS,
        },
      },
    ],
  },
});

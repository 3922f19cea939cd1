import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Attacks on a real server, from outside: too long for every change, and worth it before a release.
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['test/attack/**/*.test.ts'],
    globalSetup: 'test/system/harness/built.ts',
    pool: 'forks',
    // Each measures how long others wait: two at a time would measure each other.
    fileParallelism: false,
    bail: 1,
    disableConsoleIntercept: true,
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
  },
});

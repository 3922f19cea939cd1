import { defineConfig } from 'vitest/config';

// `unit` shares one process per core: no test may leave module state or patched globals behind.
// `system` starts real servers, agents and databases, one file at a time in a process of its own.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts', 'test/house/**/*.test.ts'],
          exclude: ['src/**/*.system.test.ts'],
          pool: 'forks',
          isolate: false,
        },
      },
      {
        test: {
          name: 'system',
          include: ['src/**/*.system.test.ts', 'test/system/**/*.test.ts'],
          pool: 'forks',
          isolate: true,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

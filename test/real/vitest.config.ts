import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Apart from `npm test`: these tests fetch and start real outside parts, and name what cannot be had.
export default defineConfig({
  root: join(import.meta.dirname, '..', '..'),
  test: {
    name: 'real',
    include: ['test/real/**/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ['verbose', './test/real/report.ts'],
  },
});

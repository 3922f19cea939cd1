import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// The slice of every cloud, the scripted run and the life of a runtime at every point, more seeds of a world with faults,
// every decision of a large day, and a day of GPU nodes: too long for every change, and worth it before a release.
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: [
      'src/**/slice.test.ts',
      'src/{conformance,providers}/**/computers.test.ts',
      'src/library/laws.test.ts',
      'src/**/crash.test.ts',
      'src/sim/seeded-world.test.ts',
      'src/nodes/{load,races}.test.ts',
      'test/long/**/*.test.ts',
      'test/system/{additions,provider-example,server-death}.test.ts',
    ],
    globalSetup: 'test/system/harness/built.ts',
    env: { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-nobody', AWS_REGION: 'us-west-2' },
    provide: { sliceStride: 1 },
    pool: 'forks',
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
  },
});

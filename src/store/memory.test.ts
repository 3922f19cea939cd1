import { emptyDisk, memoryDriver } from './memory.ts';
import { storeLaws } from './testing/suite.ts';

storeLaws('memory', async () => {
  const disk = emptyDisk();
  return { open: async () => memoryDriver(disk), remove: async () => {} };
});

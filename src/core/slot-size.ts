import { z } from 'zod';
import type { RuntimeGrant } from './runtime-host.ts';
import { count } from './schema.ts';

const GIB = 2 ** 30;

/** How much of a machine one slot of a runtime stands for. */
export interface SlotSize {
  readonly cpu: number;
  readonly memoryGb: number;
  readonly storageGb: number;
}

export const slotSize: z.ZodType<SlotSize> = z
  .object({
    cpu: count(1).default(1).describe('Processors.'),
    memoryGb: count(1).default(4).describe('Memory in GB.'),
    storageGb: count(1).default(40).describe('Storage in GiB.'),
  })
  .prefault({})
  .describe('What one slot stands for.');

/** What a runtime of so many slots may use; a disk of its own size replaces the storage of the slots. */
export function resourcesOf(
  slots: number,
  size: SlotSize,
  diskGb?: number,
): Pick<RuntimeGrant, 'cpu' | 'memoryGb' | 'storageBytes'> {
  return {
    cpu: slots * size.cpu,
    memoryGb: slots * size.memoryGb,
    storageBytes: (diskGb ?? slots * size.storageGb) * GIB,
  };
}

import { z } from 'zod';

export const MachineConfig = z.strictObject({
  url: z.url().default('http://memory.internal').describe('Where the cloud answers.'),
  size: z.enum(['small', 'large']).default('small').describe('The size of the machines.'),
  parked: z.int().min(0).default(0).describe('Number of idle machines to suspend and keep.'),
  operations: z
    .boolean()
    .default(true)
    .describe(
      'Whether the cloud tells by operations how creations end; otherwise its listing shows those that failed.',
    ),
  watches: z.boolean().default(false).describe('Whether to wait for changes in place of listing alone.'),
});
export type MachineConfig = z.output<typeof MachineConfig>;

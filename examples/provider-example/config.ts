import { duration, secret } from 'muster/src/core/schema.ts';
import { z } from 'zod';

const url = z.url().describe('Where the depot answers.');
const token = secret().optional().describe('What it wants to be shown.');

export const MachineConfig = z.strictObject({
  url,
  token,
  size: z.enum(['small', 'large']).default('small').describe('Which machine to lend.'),
});
export type MachineConfig = z.output<typeof MachineConfig>;

export const RacksConfig = z.strictObject({ url, token });
export type RacksConfig = z.output<typeof RacksConfig>;

export const PoolsConfig = z.strictObject({
  url,
  token,
  updateInterval: duration(1_000).prefault('60s').describe('How often it is read.'),
});
export type PoolsConfig = z.output<typeof PoolsConfig>;

export const ImageConfig = z.strictObject({
  url,
  token,
  base: z
    .string()
    .min(1)
    .default('plain')
    .describe('The image of the depot to start from; it has a shell and Node 24.'),
});
export type ImageConfig = z.output<typeof ImageConfig>;

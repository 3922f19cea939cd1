import { z } from 'zod';
import { count, environmentMap } from '#core/schema.ts';

export const ProcessConfig = z.strictObject({
  slots: count(1).default(1).describe('How many sessions each agent runs at a time.'),
  env: environmentMap()
    .prefault({})
    .describe('Environment variables for the agents; their sessions find them too. The values are never shown.'),
  workDir: z
    .string()
    .startsWith('/', 'must be an absolute path')
    .optional()
    .describe('Where the agents keep what their sessions left, in a folder each.')
    .meta({ defaultText: "in the server's data directory" }),
  nice: z
    .int()
    .min(-20)
    .max(19)
    .optional()
    .describe('The scheduling priority of the agents and their sessions: 19 yields most.'),
});
export type ProcessConfig = z.infer<typeof ProcessConfig>;

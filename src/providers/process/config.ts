import { z } from 'zod';
import { count, environmentMap } from '#core/schema.ts';

export const ProcessConfig = z.strictObject({
  slots: count(1).default(1).describe('Number of sessions that each agent runs at a time.'),
  env: environmentMap()
    .prefault({})
    .describe('Environment variables for the agents and their sessions. The values are never shown.'),
  workDir: z
    .string()
    .startsWith('/', 'must be an absolute path')
    .optional()
    .describe('Directory for the files of the agents, one folder each.')
    .meta({ defaultText: "in the server's data directory" }),
  nice: z
    .int()
    .min(-20)
    .max(19)
    .optional()
    .describe('The scheduling priority of the agents and their sessions: 19 yields most.'),
});
export type ProcessConfig = z.infer<typeof ProcessConfig>;

import { z } from 'zod';
import { count, environmentMap } from '#core/schema.ts';

/** Where the files of agents with a user of their own are kept, if the configuration does not say. */
export const SHARED_FOLDER = '/var/lib/muster-agents';
// As in passwd(5), and no option of a program: it is looked up by one.
const USER = /^[^-:\s\0][^:\s\0]{0,255}$/;

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
    .meta({ defaultText: `in the server's data directory; with \`user\`: ${SHARED_FOLDER}` }),
  user: z
    .string()
    .regex(USER, 'must be the name of a user of this machine')
    .optional()
    .describe('User that the agents and their sessions run as. Only a server that runs as root can use it.')
    .meta({ defaultText: 'the user of the server' }),
  nice: z
    .int()
    .min(-20)
    .max(19)
    .optional()
    .describe('The scheduling priority of the agents and their sessions: 19 yields most.'),
});
export type ProcessConfig = z.infer<typeof ProcessConfig>;

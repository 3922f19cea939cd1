import { z } from 'zod';
import { duration, script } from '#core/schema.ts';

const HOW = 'A bash script that runs on the server with its rights.';

export const CommandConfig = z
  .strictObject({
    start: script()
      .min(1)
      .optional()
      .describe(`${HOW} Creates the machine \`$WORKER_NAME\`; prints its name if that differs.`),
    stop: script().min(1).describe(`${HOW} Deletes the machine \`$1\` (also \`$WORKER_NAME\`).`),
    list: script()
      .min(1)
      .describe(
        `${HOW} Prints one machine per line: its name and, after a space, its state (\`running\`, \`deleting\`).`,
      ),
    batchStart: script()
      .min(1)
      .optional()
      .describe(`${HOW} Creates \`$1\` machines at once under the label \`$2\`; prints their names, one per line.`),
    timeout: duration(1)
      .prefault('5m')
      .describe('A script that runs longer is killed with all its child processes.')
      .meta({ shapes: false }),
  })
  .refine(({ start, batchStart }) => start !== undefined || batchStart !== undefined, 'needs start or batch_start');
export type CommandConfig = z.infer<typeof CommandConfig>;

import { z } from 'zod';
import { duration, script } from '#core/schema.ts';

const HOW = 'A bash script, run on the server with its rights.';

export const CommandConfig = z
  .strictObject({
    start: script()
      .min(1)
      .optional()
      .describe(`${HOW} Makes the machine \`$WORKER_NAME\`; prints its name where that is another.`),
    stop: script().min(1).describe(`${HOW} Deletes the machine \`$1\`, also known as \`$WORKER_NAME\`.`),
    list: script()
      .min(1)
      .describe(
        `${HOW} Prints one machine a line: its name and, after a blank, what it does (\`running\`, \`deleting\`).`,
      ),
    batchStart: script()
      .min(1)
      .optional()
      .describe(`${HOW} Makes \`$1\` machines at once under the label \`$2\`; prints their names, one a line.`),
    timeout: duration(1)
      .prefault('5m')
      .describe('A script that takes longer is killed with all that it started.')
      .meta({ shapes: false }),
  })
  .refine(({ start, batchStart }) => start !== undefined || batchStart !== undefined, 'needs start or batch_start');
export type CommandConfig = z.infer<typeof CommandConfig>;

import { z } from 'zod';
import { foresightFields } from './schedule-config.ts';
import { count, duration, protoEnum } from './schema.ts';

/** The keys of `auto_scaler` apart from its backend; the auto kinds of the clouds share them as `autoscaler_config`. */
export const scalerFields = {
  maxAgents: count().default(0).describe('Largest number of workers; 0 never scales up.'),
  minAgents: count().default(0).describe('Smallest number of workers to keep, idle or not.'),
  minIdleAgents: count().default(0).describe('Number of idle slots to keep ready.'),
  maxIdleAgents: count()
    .default(0)
    .describe(
      'Idle slots above this are removed at once; raised to `min_idle_agents` + `default_slots_per_agent` − 1 if it is lower.',
    ),
  idleDecay: duration()
    .prefault('0s')
    .describe('Between `min_idle_agents` and `max_idle_agents`, one worker is removed each time this has passed.'),
  initialDelay: duration()
    .optional()
    .describe('After a start, act after this time even if machines of the pool are still unknown.')
    .meta({ defaultText: 'waits until none is unknown' }),
  syncLoopInterval: duration()
    .prefault('60s')
    .describe('Interval between listings of the machines; 0 means the default.'),
  killUnknownAfter: duration()
    .prefault('0s')
    .describe('Delete machines without a worker record after this long; 0 keeps them.'),
  defaultSlotsPerAgent: count()
    .default(1)
    .describe('Expected slots of a worker until its agent reports them; 0 means the default.'),
  ...foresightFields,
  mode: protoEnum('MODE_', ['unspecified', 'standard', 'batch'])
    .prefault('standard')
    .describe('`batch` workers are launched for one job; everything else is `standard`.'),
  metadata: z
    .object({
      description: z.string().optional().describe('The same as `description` of the pool, which has precedence.'),
    })
    .optional()
    .describe('Description of the pool for people.'),
  scaleUpErrorRetryDelay: duration().prefault('60s').describe('Wait after a failed launch; 0 means the default.'),
  allocationErrorResetAfter: duration()
    .optional()
    .describe('A failed launch no longer counts after this time without a launch.')
    .meta({ defaultText: '`scale_up_error_retry_delay` + 30s' }),
};

import { z } from 'zod';
import { count, duration, protoEnum } from './schema.ts';

/** The keys of `auto_scaler` apart from its backend; the auto kinds of the clouds share them as `autoscaler_config`. */
export const scalerFields = {
  maxAgents: count().default(0).describe('The most workers that may exist at a time; 0 never scales up.'),
  minAgents: count().default(0).describe('The fewest workers to keep, idle or not.'),
  minIdleAgents: count().default(0).describe('How many idle slots to keep ready.'),
  maxIdleAgents: count()
    .default(0)
    .describe(
      'Idle slots above this go at once; raised to `min_idle_agents` + `default_slots_per_agent` − 1 where it is lower.',
    ),
  idleDecay: duration()
    .prefault('0s')
    .describe('Between `min_idle_agents` and `max_idle_agents`, one worker goes after each such time.'),
  initialDelay: duration()
    .optional()
    .describe('After a start, act after this time even where machines of the pool are still unknown.')
    .meta({ defaultText: 'waits until none is unknown' }),
  syncLoopInterval: duration().prefault('60s').describe('How often the machines are listed; 0 means the default.'),
  killUnknownAfter: duration()
    .prefault('0s')
    .describe('Machines of the pool that nobody knows go after this time; 0 leaves them alone.'),
  defaultSlotsPerAgent: count()
    .default(1)
    .describe('How many sessions a worker is expected to take until its agent says so itself; 0 means the default.'),
  mode: protoEnum('MODE_', ['unspecified', 'standard', 'batch'])
    .prefault('standard')
    .describe('`batch` workers are launched for one job; everything else is `standard`.'),
  metadata: z
    .object({ description: z.string().optional().describe('As `description` of the pool, which wins.') })
    .optional()
    .describe('What people read about the pool.'),
  scaleUpErrorRetryDelay: duration()
    .prefault('60s')
    .describe('How long to wait after a launch failed; 0 means the default.'),
  allocationErrorResetAfter: duration()
    .optional()
    .describe('A failure is forgotten when nothing was tried for this long.')
    .meta({ defaultText: '`scale_up_error_retry_delay` + 30s' }),
};

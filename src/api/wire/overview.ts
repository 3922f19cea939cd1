import { z } from 'zod';
import { POOL_PHASES } from '#core/pool.ts';
import { Event } from './event.ts';
import { Time } from './shared.ts';

const count = z.int().min(0);

/** Something that needs somebody. */
export const FleetProblem = z
  .object({
    id: z.string().meta({ description: 'The same as long as the problem lasts.' }),
    subject: z.string().meta({ examples: ['pool/gpu'] }),
    what: z.string(),
    since: Time.optional(),
    remedy: z.string(),
    waiting_sessions: count.optional().meta({ description: 'Queued sessions that wait for its end.' }),
    link: z.string().meta({ description: 'The page of the dashboard about its subject.' }),
  })
  .meta({ id: 'FleetProblem' });
export type FleetProblem = z.infer<typeof FleetProblem>;

const Tally = z.object({ total: count, in_error: count });

/** What a person looks at first. Its size does not grow with the fleet. */
export const Overview = z
  .object({
    at: Time.meta({ description: 'When it was computed: at most once a second.' }),
    problems: z.array(FleetProblem).meta({ description: 'The most urgent first; at most 50.' }),
    more_problems: count.meta({ description: 'Problems that the list leaves out.' }),
    workers: z.object({
      total: count,
      busy: count,
      idle: count,
      starting: count.meta({ description: 'Launching or booting.' }),
      draining: count,
      lost: count,
      parked: count,
      deleting: count,
    }),
    sessions: z.object({
      queued: count,
      running: count.meta({ description: 'Placed on a worker whose agent is connected.' }),
      unknown: count.meta({ description: 'Placed on a worker whose agent is away.' }),
    }),
    longest_wait_ms: count.meta({ description: 'Of the sessions that are queued now; 0 where there are none.' }),
    dollars_per_hour: z.number().meta({ description: 'Of all machines that are not stopped, as far as it is known.' }),
    machines_without_price: count,
    pools: z.object({ total: count, ...Object.fromEntries(POOL_PHASES.map((phase) => [phase, count])) } as {
      total: typeof count;
    } & Record<(typeof POOL_PHASES)[number], typeof count>),
    sources: Tally.extend({ with_refused_documents: count }),
    computers: Tally.optional(),
    runtimes: Tally.optional(),
    nodes: Tally.optional().meta({ description: 'NodeProvisioners.' }),
    images: z.object({ total: count }).optional().meta({ description: 'Records of images that commands have built.' }),
    events: z.array(Event).meta({ description: 'The last ones, the newest first.' }),
  })
  .meta({ id: 'Overview' });
export type Overview = z.infer<typeof Overview>;

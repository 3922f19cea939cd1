import { z } from 'zod';
import { Time } from './shared.ts';

const count = z.int().min(0);

const SeriesPoint = z.object({
  at: Time.meta({ description: 'The begin of the step.' }),
  queued: count.meta({ description: 'Sessions. Of each count the largest within the step.' }),
  busy: count.meta({ description: 'Workers.' }),
  idle: count,
  starting: count.meta({ description: 'Launching or booting.' }),
  wanted: count.meta({ description: 'How many workers there must be.' }),
  dollars: z.number().meta({ description: 'An hour, in the mean of the step.' }),
});

/** Figures over time, for charts. */
export const Series = z
  .object({
    step_ms: z.int(),
    points: z.array(SeriesPoint).meta({ description: 'The oldest first; none for minutes without a server.' }),
  })
  .meta({ id: 'Series' });
export type Series = z.infer<typeof Series>;

import { z } from 'zod';
import { listOf, Time } from './shared.ts';

export const Event = z
  .object({
    id: z.string(),
    at: Time,
    kind: z.string(),
    subject: z.string(),
    pool: z.string().optional(),
    who: z.string(),
    from: z.string(),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof Event>;

export const EventList = listOf(Event);
export type EventList = z.infer<typeof EventList>;

/** The data of one `change` on the stream of changes; without a row, it is gone. */
export const Change = z
  .object({ table: z.string(), id: z.string(), row: z.unknown().optional() })
  .meta({ id: 'Change' });
export type Change = z.infer<typeof Change>;

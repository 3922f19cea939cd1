import { z } from 'zod';
import { Span, Time } from './shared.ts';

const count = z.int().min(0);

export const Offer = z
  .object({
    id: z.string(),
    kind: z.string().optional(),
    pools: z.array(z.string()).meta({ description: 'The pools that have it now.' }),
    launches: count,
    starting: count.meta({ description: 'Machines whose agent has not joined yet.' }),
    refused: z.record(z.string(), count).meta({ description: 'Launches that the cloud refused, by kind of fault.' }),
    never_ready: count.meta({ description: 'Machines that were made, and ended before their agent joined.' }),
    ready_p50: Span.optional().meta({ description: 'From the launch until the agent joined: half took no longer.' }),
    ready_p95: Span.optional(),
    price_per_hour: z.number().optional().meta({ description: 'In dollars, as the pool or the cloud says now.' }),
  })
  .meta({ id: 'Offer' });
export type Offer = z.infer<typeof Offer>;

export const OfferList = z.object({
  since: Time.meta({ description: 'Launches from then on are counted.' }),
  items: z.array(Offer),
});
export type OfferList = z.infer<typeof OfferList>;

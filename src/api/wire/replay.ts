import { z } from 'zod';
import { Alternative, Decision, Reason } from './decision.ts';
import { Time } from './shared.ts';

const count = z.int().min(0);

export const ComputedDecision = z
  .object({
    did: z.string(),
    reason: Reason.optional(),
    also: z.array(Reason).optional(),
    why: z.string(),
    unless: z.string().optional(),
    facts: z.record(z.string(), z.unknown()),
    alternatives: z.array(Alternative).optional(),
  })
  .meta({ id: 'ComputedDecision' });
export type ComputedDecision = z.infer<typeof ComputedDecision>;

export const Replay = z
  .object({
    decisions: count.meta({ description: 'How many records about pools this page has.' }),
    same: count,
    different: count,
    without_inputs: count.meta({ description: 'Recorded by versions that did not keep the inputs.' }),
    unreadable: count.meta({ description: 'With inputs that this version cannot read.' }),
    from: Time.optional().meta({ description: 'When the first of them was made.' }),
    until: Time.optional().meta({ description: 'When the last of them was made.' }),
    first_different: z
      .object({
        pool: z.string().meta({ description: 'The name of the pool, or its id if it is gone.' }),
        parts: z.array(z.string()).meta({ description: 'In what the two differ.' }),
        recorded: Decision,
        computed: ComputedDecision,
      })
      .optional(),
    first_unreadable: z.object({ pool: z.string(), at: Time, why: z.string(), remedy: z.string() }).optional(),
    next: z.string().optional().meta({ description: 'Send it as `after` for the next page.' }),
  })
  .meta({ id: 'Replay' });
export type Replay = z.infer<typeof Replay>;

import { z } from 'zod';
import { listOf, Time } from './shared.ts';

export const Reason = z
  .object({
    code: z.string().meta({ description: 'One of the codes in docs/reference/reasons.md.' }),
    with: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .optional()
      .meta({ description: 'The settings that distinguish it from the same code elsewhere.' }),
  })
  .meta({ id: 'Reason' });
export type Reason = z.infer<typeof Reason>;

export const Alternative = z
  .object({ what: z.string(), why_not: z.string(), price_per_hour: z.number().optional() })
  .meta({ id: 'Alternative' });
export type Alternative = z.infer<typeof Alternative>;

export const Decision = z
  .object({
    id: z.string(),
    at: Time,
    subject: z.string().optional().meta({ description: 'The subject of the decision: `pool/<id>`.' }),
    pool: z.string().optional().meta({ description: 'The name of the pool that the subject is, while there is one.' }),
    did: z.string(),
    reason: Reason.optional().meta({ description: 'Absent in decisions of versions without reason codes.' }),
    also: z.array(Reason).optional().meta({ description: 'Further reasons, for a part of the actions.' }),
    why: z.string(),
    unless: z.string().optional(),
    facts: z.record(z.string(), z.unknown()),
    alternatives: z
      .array(Alternative)
      .optional()
      .meta({ description: 'Alternatives that were considered and rejected.' }),
    inputs: z.string().optional().meta({ description: 'The inputs of the decision, in a compact form.' }),
    /** How often it was taken again without a change, and when last. */
    repeats: z.int().optional(),
    last_at: Time.optional(),
  })
  .meta({ id: 'Decision' });
export type Decision = z.infer<typeof Decision>;

export const DecisionList = listOf(Decision);
export type DecisionList = z.infer<typeof DecisionList>;

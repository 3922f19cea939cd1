import { z } from 'zod';
import { FAULTS, type FaultKind } from '#core/fault.ts';
import { USES } from '#core/provider.ts';
import { listOf, Time } from './shared.ts';

export const EndedMachine = z
  .object({
    id: z.string(),
    machine: z.string().meta({ description: 'The name that Muster gave it.' }),
    use: z.enum(USES),
    owner: z.string().meta({ description: 'The pool or computer that it was for.' }),
    offer: z.string(),
    kind: z.string().meta({ description: 'The kind of backend that made it.' }),
    asked_at: Time,
    created_at: Time.optional(),
    joined_at: Time.optional(),
    removed_at: Time.optional().meta({ description: 'When Muster decided to delete it.' }),
    ended_at: Time,
    how: z.enum(['removed', 'gone', 'failed']),
    fault: z.object({ kind: z.enum(Object.keys(FAULTS) as FaultKind[]), message: z.string() }).optional(),
    prices: z
      .array(z.object({ from: Time, per_hour: z.number() }))
      .optional()
      .meta({ description: 'In dollars: the first price that is known, and each change of it.' }),
  })
  .meta({ id: 'EndedMachine' });
export type EndedMachine = z.infer<typeof EndedMachine>;

export const EndedMachineList = listOf(EndedMachine);
export type EndedMachineList = z.infer<typeof EndedMachineList>;

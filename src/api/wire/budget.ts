import { z } from 'zod';
import { BUDGET_ENDS } from '#core/budget.ts';
import { listOf, Time } from './shared.ts';

export const Budget = z
  .object({
    name: z.string(),
    pools: z
      .array(z.string())
      .optional()
      .meta({ description: 'Patterns of names; absent with `sources`: all pools and computers.' }),
    sources: z.array(z.string()).optional(),
    per_hour: z.number().optional(),
    per_month: z.number().optional(),
    // biome-ignore lint/suspicious/noThenProperty: the word of the server's file, and no code waits for a budget
    then: z.enum(BUDGET_ENDS).meta({ description: 'What happens where it would be exceeded.' }),
    covers: z
      .object({ pools: z.int(), computers: z.int(), machines: z.int() })
      .meta({ description: 'What it covers now; machines are those that exist or are promised.' }),
    dollars_per_hour: z.number().meta({ description: 'What these machines cost together.' }),
    machines_without_price: z.int(),
    month_from: Time,
    spent: z.number().optional().meta({ description: 'Dollars since then; absent while they are being counted.' }),
    forecast: z.number().optional().meta({ description: 'Dollars by the end of the month, if all that runs goes on.' }),
    spent_at: Time.optional().meta({
      description: 'When nothing is left of the month at this rate, if before its end.',
    }),
    busy_beyond: z
      .number()
      .optional()
      .meta({ description: 'Once the month is spent: dollars an hour of machines with sessions, which finish.' }),
    unpriced: z.array(z.object({ pool: z.string(), backend: z.string(), offer: z.string() })).meta({
      description: 'Backends whose price is not known, at most 20: with `stop` nothing is launched from them.',
    }),
    exceeded: z
      .string()
      .optional()
      .meta({ description: 'What is exceeded or spent, and since that is so what follows.' }),
  })
  .meta({ id: 'Budget' });
export type Budget = z.infer<typeof Budget>;

export const BudgetList = listOf(Budget);
export type BudgetList = z.infer<typeof BudgetList>;

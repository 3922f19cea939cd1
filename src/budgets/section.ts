import { z } from 'zod';
import { BUDGET_ENDS, type Budget } from '#core/budget.ts';
import { oneOrMore } from '#core/schema.ts';

const dollars = () => z.number().positive('must be above 0');

const budget = z
  .object({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, dots, hyphens and underscores')
      .describe('Name of the budget in reasons, events and commands.'),
    pools: oneOrMore(z.string().min(1))
      .optional()
      .describe('Names of the pools that it covers; `*` stands for any text. Default: all pools and computers.'),
    sources: oneOrMore(z.string().min(1))
      .optional()
      .describe('Sources whose pools it covers, by their ids. Beside `pools`: pools for which both hold.'),
    perHour: dollars()
      .optional()
      .describe('Dollars an hour that all machines that exist or are promised may cost together.'),
    perMonth: dollars().optional().describe('Dollars that may be spent from the first of a month on, 00:00 UTC.'),
    // biome-ignore lint/suspicious/noThenProperty: users write that word, and no code waits for a budget
    then: z
      .enum(BUDGET_ENDS)
      .describe(
        '`stop`: nothing is launched that would exceed it; once the month is spent, idle workers are removed and busy ones finish. `warn`: events and problems say that it is exceeded.',
      ),
  })
  .superRefine(({ perHour, perMonth }, context) => {
    if (perHour !== undefined || perMonth !== undefined) return;
    context.addIssue({
      code: 'custom',
      path: ['perHour'],
      message: 'is missing; a budget needs per_hour or per_month',
    });
  })
  .transform(({ then: end, ...rest }): Budget => ({ ...rest, end }));

/** The section `budgets` of the server's file. */
export function budgetsSection(): z.ZodType<readonly Budget[]> {
  return z
    .array(budget)
    .superRefine((all, context) => {
      for (const [at, { name }] of all.entries()) {
        const first = all.findIndex((other) => other.name === name);
        if (first === at) continue;
        const message = `is the name of budgets[${first}] too`;
        context.addIssue({ code: 'custom', path: [at, 'name'], message });
      }
    })
    .prefault([])
    .describe('What pools and computers may cost.');
}

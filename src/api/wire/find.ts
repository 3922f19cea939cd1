import { z } from 'zod';

export const Found = z
  .object({
    items: z.array(
      z.object({
        kind: z.string().meta({ examples: ['pool'] }),
        name: z.string(),
        link: z.string().meta({ description: 'Its path in the dashboard.' }),
        text: z.string().meta({ description: 'What else names it, such as its id; may be empty.' }),
      }),
    ),
  })
  .meta({ id: 'Found' });
export type Found = z.infer<typeof Found>;

import { z } from 'zod';
import { Name, Since, Span, spanIn, Time } from './shared.ts';

const LONGEST_MS = 366 * 86_400_000;

/** Sessions of one trace. */
export const MOST_TRACED = 100_000;

const Rate = z.strictObject({
  per_hour: z.number().min(0.001).max(1e6).meta({ description: 'Sessions an hour on average, at random times.' }),
  lasting: spanIn(LONGEST_MS).meta({ description: 'How long each of them runs.' }),
  for: spanIn(LONGEST_MS).meta({ description: 'From now on.' }),
});

const Traced = z.strictObject({
  submitted: z.number().min(0).max(1e11).meta({ description: 'In seconds since 1970.' }),
  seconds: z.number().min(0).max(1e9).meta({ description: 'How long it runs.' }),
  slots: z.int().min(1).max(10_000).optional().meta({ description: 'How many slots it takes; default 1.' }),
});

export const ForecastIn = z
  .strictObject({
    pool: Name,
    set: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Keys of `auto_scaler` that another policy has otherwise, as in a pool document.' }),
    since: Since.optional().meta({ description: 'The sessions of the pool since then are the demand. Default: 7d.' }),
    rate: Rate.optional().meta({ description: 'Another demand: a rate.' }),
    trace: z.array(Traced).max(MOST_TRACED).optional().meta({ description: 'Another demand: each session.' }),
    seed: z
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(1),
  })
  .refine(({ since, rate, trace }) => [since, rate, trace].filter((demand) => demand !== undefined).length <= 1, {
    error: 'Give only one of since, rate and trace.',
  })
  .meta({ id: 'ForecastIn' });
export type ForecastIn = z.input<typeof ForecastIn>;

const Waits = z.object({ p50: Span, p95: Span, p99: Span });

const figures = {
  sessions: z.int(),
  waiting: z
    .int()
    .meta({ description: 'Sessions that still waited at the end; each counts with its wait until then.' }),
  waits: Waits.meta({ description: 'For a slot.' }),
  launches: z.int(),
  refused: z.int().meta({ description: 'Launches that the cloud refused.' }),
  machine_hours: z.number(),
  dollars: z.number().meta({ description: 'Of the machines with a price.' }),
  machines_without_price: z.int(),
};

export const ForecastFigures = z.object(figures).meta({ id: 'ForecastFigures' });
export type ForecastFigures = z.infer<typeof ForecastFigures>;

const Decided = z.object({ at: Time, did: z.string(), why: z.string() });
export type ForecastDecided = z.infer<typeof Decided>;

export const Forecast = z
  .object({
    pool: z.string(),
    from: Time,
    until: Time,
    sessions: z.int(),
    seed: z.int(),
    recorded: ForecastFigures.optional().meta({
      description: 'What happened; only with the demand of the pool itself.',
    }),
    today: ForecastFigures.meta({ description: 'The policy of the pool as it is, in the model.' }),
    other: z
      .object({
        ...figures,
        set: z.record(z.string(), z.unknown()).optional().meta({ description: 'Absent for a shadow.' }),
        warnings: z.array(z.string()),
        first_difference: z
          .object({
            at: Time,
            today: Decided.optional(),
            other: Decided.optional(),
          })
          .optional()
          .meta({
            description: 'The first moment at which the two policies do something else; absent if there is none.',
          }),
      })
      .optional()
      .meta({ description: 'The other policy over the same demand.' }),
    notes: z.array(z.string()).meta({ description: 'What is assumed without a measurement, and what is left out.' }),
  })
  .meta({ id: 'Forecast' });
export type Forecast = z.infer<typeof Forecast>;

export const Shadow = z
  .object({
    pool: z.string(),
    since: Time,
    by: z.string(),
    forecast: Forecast.optional().meta({
      description: 'What the other policy has come to since then. Absent until it is computed for the first time.',
    }),
    problem: z.string().optional().meta({ description: 'Why there is no newer one.' }),
  })
  .meta({ id: 'Shadow' });
export type Shadow = z.infer<typeof Shadow>;

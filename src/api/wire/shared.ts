// What all nouns share on the wire. Keys are snake_case here and nowhere else in the program.
import { z } from 'zod';
import type { Clock } from '#core/clock.ts';
import { duration } from '#core/schema.ts';
import { writtenTimeMs } from '#core/written-time.ts';

/** A moment, in ISO 8601 and UTC. */
export const Time = z.iso.datetime().meta({ examples: ['2026-01-01T12:00:00.000Z'] });

// Under load the times of many answers are the same millisecond.
let lastTime = { ms: Number.NaN, text: '' };

export function toTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() };
  return lastTime.text;
}

export function toTimeIf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : toTime(ms);
}

/** A span as people write it. */
export const Span = z.string().meta({ format: 'duration', examples: ['90s', '5m', '1h30m'] });

/** A span that someone sends: text or a number of seconds. */
export const spanIn = (longestMs: number) =>
  duration().refine((ms) => ms >= 0 && ms <= longestMs, { error: `Must lie between 0s and ${longestMs / 1_000}s.` });

/** A moment that someone names: a time, or a duration back from now. */
export const Since = z.string().transform((text, context): { readonly ms: number; readonly isSpan: boolean } => {
  const ms = writtenTimeMs(text);
  if (ms !== undefined) return { ms, isSpan: false };
  const span = duration().safeParse(text);
  if (span.success && span.data >= 0) return { ms: span.data, isSpan: true };
  context.addIssue({
    code: 'custom',
    message: 'Must be a duration such as 10m, or a time such as 2026-01-01T12:00:00Z.',
  });
  return z.NEVER;
});

export const sinceMsOf = ({ ms, isSpan }: z.output<typeof Since>, clock: Pick<Clock, 'now'>): number =>
  isSpan ? clock.now() - ms : ms;

export const Labels = z.record(z.string(), z.string());

/** A yes or no in a query: `?follow`, `?follow=1`, `?follow=false`. */
export const Flag = z
  .enum(['', '1', 'true', '0', 'false'])
  .default('0')
  .transform((text) => text === '' || text === '1' || text === 'true');

export const MOST_ITEMS = 1_000;

/** Which part of a list: at most `limit` items, from where the last answer's `next` says. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(MOST_ITEMS).default(100).meta({ description: 'Largest number of rows.' }),
  after: z.string().min(1).max(1_000).optional().meta({ description: '`next` of the previous answer.' }),
};

/** Some of the items; with `next`, there are more. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next: z.string().optional() });
}

/** A name in a path; percent-encoded there, so it may hold anything. */
export const Name = z.string().min(1, { error: 'Must not be empty.' }).max(500);

export const Empty = z.undefined();

/** What every list of a history takes: the subject it is about, and the order. */
export const bySubject = {
  subject: z
    .string()
    .min(1)
    .max(600)
    .optional()
    .meta({ examples: ['pool/local'] }),
  order: z.enum(['newest', 'oldest']).default('newest'),
};

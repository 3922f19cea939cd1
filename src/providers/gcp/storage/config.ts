import { z } from 'zod';
import { duration } from '#core/schema.ts';

export const GcsConfig = z.strictObject({
  bucket: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/, 'must be the name of a bucket alone, like velda-pool-configs')
    .describe('Name of the bucket, without `gs://`.'),
  configPrefix: z
    .string()
    .regex(/^(?!\/)/, 'must not begin with /: names of objects do not')
    .describe(
      'Prefix of the objects. Every object below it, at any depth, is a pool document; `""`: all of the bucket.',
    ),
  updateInterval: duration(1_000).prefault('60s').describe('Interval between listings of the objects.'),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Endpoint of Cloud Storage instead of Google's own; only in the operator's own file.")
    .meta({ operatorOnly: true, shapes: false, defaultText: '`STORAGE_EMULATOR_HOST`, else Google' }),
});
export type GcsConfig = z.output<typeof GcsConfig>;

/** With one slash at its end, so that `pools` does not take `pools-of-others/` with it. */
export function prefixOf({ configPrefix }: GcsConfig): string {
  return configPrefix === '' ? '' : `${configPrefix.replace(/\/+$/, '')}/`;
}

/** The place that the source reads; the same however its prefix is written. */
export const placeOf = (config: GcsConfig): string => `${config.bucket}/${prefixOf(config)}`;

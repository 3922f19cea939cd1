import { z } from 'zod';
import { duration } from '#core/schema.ts';
import { endpoint, region } from '../config.ts';

export const ParametersConfig = z.strictObject({
  region: region.meta({ defaultText: '`AWS_REGION`, the profile, or the machine’s own' }),
  configPrefix: z
    .string()
    .regex(/^\/[A-Za-z0-9._/-]*$/, 'must be a path of parameters, like /velda/pools/')
    .describe('Path in Parameter Store. Every parameter below it, at any depth, is a pool document.'),
  updateInterval: duration(1_000).prefault('60s').describe('Interval between listings of the parameters.'),
  endpoint,
});
export type ParametersConfig = z.output<typeof ParametersConfig>;

/** With one slash at its end: rights on `parameter/velda/pools/*` cover just that. */
export function pathOf({ configPrefix }: ParametersConfig): string {
  return `${configPrefix.replace(/\/+$/, '')}/`;
}

/** The place that the source reads; the same however its prefix is written. */
export function placeOf(config: ParametersConfig): string {
  return [config.region, pathOf(config)].filter(Boolean).join(':');
}

import { z } from 'zod';
import { autoscalerFields } from '#core/auto-pool.ts';
import { duration } from '#core/schema.ts';
import { regionIn, TemplateConfig, text } from '../config.ts';

export const OfferingsConfig = z
  .strictObject({
    template: TemplateConfig.describe('Settings of `aws_launch_template`, without the type.'),
    poolPrefix: z.string().default('').describe('Prefix of the pool names: `aws` gives `aws-p3.2xlarge`.'),
    instanceTypePrefixes: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Prefixes of instance types: `p3.`, or `p4.` for the whole generation. The first listing that fits a prefix decides which of the two it is. Default: all offered types.',
      ),
    amiId: text().optional().describe('Overrides the image of `template`.'),
    amiName: text().optional().describe('Overrides the image of `template`.'),
    amiOwner: text().optional().describe('With `ami_name`.'),
    autoscalerConfig: z
      .strictObject(autoscalerFields)
      .optional()
      .describe('Settings of `auto_scaler`. Defaults here: `max_agents` 10, `max_idle_agents` 1 and `idle_decay` 60s.'),
    updateInterval: duration(10_000)
      .prefault('10m')
      .describe('Interval between listings of the types that AWS offers.'),
  })
  .refine(({ amiId, amiName }) => !(amiId && amiName), 'has both ami_id and ami_name; keep one of them');
export type OfferingsConfig = z.output<typeof OfferingsConfig>;

/** Region or zone, and the prefix: two such sources make different pools. */
export function placeOf({ template, poolPrefix }: OfferingsConfig): string {
  return [template.zone ?? regionIn(template), poolPrefix].filter(Boolean).join(':');
}

import { z } from 'zod';
import { autoscalerFields } from '#core/auto-pool.ts';
import { duration } from '#core/schema.ts';
import { regionIn, TemplateConfig, text } from '../config.ts';

export const OfferingsConfig = z
  .strictObject({
    template: TemplateConfig.describe('As `aws_launch_template`; the type comes from what AWS offers.'),
    poolPrefix: z
      .string()
      .refine((prefix) => !prefix.includes(':'), 'must not contain ":", which no name of a pool may')
      .default('')
      .describe('What the names of the pools begin with: `aws` gives `aws-p3.2xlarge`.'),
    instanceTypePrefixes: z
      .array(z.string().min(1))
      .default([])
      .describe('Which types: `p3.`, or `p4.` for all of the generation; without any, all that are offered.'),
    amiId: text().optional().describe('In place of the image of `template`.'),
    amiName: text().optional().describe('In place of the image of `template`.'),
    amiOwner: text().optional().describe('With `ami_name`.'),
    autoscalerConfig: z
      .strictObject(autoscalerFields)
      .optional()
      .describe('As `auto_scaler` of a pool; over `max_agents` 10, `max_idle_agents` 1 and `idle_decay` 60s.'),
    updateInterval: duration(10_000).prefault('10m').describe('How often AWS is asked what it offers.'),
  })
  .refine(({ amiId, amiName }) => !(amiId && amiName), 'names both ami_id and ami_name; keep one of them');
export type OfferingsConfig = z.output<typeof OfferingsConfig>;

/** Region or zone, and the prefix: two such sources make different pools. */
export function placeOf({ template, poolPrefix }: OfferingsConfig): string {
  return [template.zone ?? regionIn(template), poolPrefix].filter(Boolean).join(':');
}

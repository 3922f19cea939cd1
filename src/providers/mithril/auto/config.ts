import { z } from 'zod';
import { autoscalerFields } from '#core/auto-pool.ts';
import { duration } from '#core/schema.ts';
import { ownFields, sharedFields } from '../config.ts';

const scaling = z.strictObject(autoscalerFields).optional();

const PoolDetail = z.strictObject({
  poolName: z.string().min(1).describe('Name of the pool.'),
  ...ownFields,
  description: z.string().optional().describe('Description of the pool.').meta({ defaultText: 'type and region' }),
  autoscalerConfig: scaling.describe('Settings of this pool alone, key by key over the shared ones.'),
});

export const AutoConfig = z.strictObject({
  ...sharedFields,
  autoscalerConfig: scaling.describe(
    'Settings of `auto_scaler` for all pools. Defaults here: `max_agents` 10, `max_idle_agents` 1 and `idle_decay` 60s.',
  ),
  poolDetails: z
    .array(PoolDetail)
    .default([])
    .superRefine((details, context) => {
      for (const [at, { poolName }] of details.entries()) {
        if (details.findIndex((one) => one.poolName === poolName) === at) continue;
        const message = `"${poolName}" stands in pool_details twice`;
        context.addIssue({ code: 'custom', path: [at, 'poolName'], message });
      }
    })
    .describe('The pools, each with its instance type and price limit.'),
  updateInterval: duration(10_000)
    .prefault('60s')
    .describe(
      'Interval after which a pool that was taken out of `pool_details` is removed. The list of types is read once an hour.',
    ),
});
export type AutoConfig = z.output<typeof AutoConfig>;

/** Where its pools are: with the kind its identity, where it has no name. */
export const placeOf = ({ projectId, region }: AutoConfig): string => `${projectId}:${region}`;

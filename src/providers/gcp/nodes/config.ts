import { z } from 'zod';
import { endpoint, project, REGION, ZONE } from '../compute/config.ts';

const Template = z
  .strictObject({
    zone: ZONE.optional().describe('Zone of the group, like `us-central1-a`; not with `region`.'),
    region: REGION.optional().describe('Region of a regional group, like `us-central1`; not with `zone`.'),
    instanceTemplate: z
      .string()
      .regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of an instance template alone')
      .describe(
        'Name of the instance template: of the project, or with `region` of that region if it has one of that name.',
      ),
  })
  .superRefine(({ zone, region }, context) => {
    if ((zone === undefined) === (region === undefined))
      context.addIssue({ code: 'custom', path: ['zone'], message: 'exactly one of zone and region is needed' });
  });
export type GroupTemplate = z.output<typeof Template>;

export const GceNodesConfig = z.strictObject({
  project,
  endpoint,
  groupTemplates: z
    .record(z.string(), Template)
    .optional()
    .describe('What groups may be made from, by the names that `create` uses.')
    .meta({ defaultText: 'none: groups are not made' }),
});
export type GceNodesConfig = z.output<typeof GceNodesConfig>;

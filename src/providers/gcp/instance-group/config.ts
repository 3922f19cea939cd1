import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { unused } from '#core/schema.ts';
import { endpoint, project, REGION, ZONE } from '../compute/config.ts';

const MARKS = ['metadata', 'name'] as const;

export const GroupConfig = z
  .strictObject({
    project,
    zone: ZONE.optional().describe('Zone of the instance group, like `us-central1-a`; not with `region`.'),
    region: REGION.optional().describe('Region of a regional instance group, like `us-central1`; not with `zone`.'),
    instanceGroup: z
      .string()
      .regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a managed instance group alone')
      .describe('Name of the managed instance group.'),
    instanceNamePrefix: unused('instances are named by Muster'),
    marks: z
      .enum(MARKS)
      .prefault('metadata')
      .describe(
        'Where Muster marks its instances: in `metadata` of each instance, which also brings the agent, or only in its `name`; the template must then bring the agent.',
      ),
    endpoint,
    ...agentFileFields,
  })
  .superRefine(({ zone, region }, context) => {
    if ((zone === undefined) === (region === undefined))
      context.addIssue({ code: 'custom', path: ['zone'], message: 'exactly one of zone and region is needed' });
  });
export type GroupConfig = z.output<typeof GroupConfig>;

/** `zones/us-central1-a` or `regions/us-central1`: where the group is, as paths have it. */
export const placeOfGroup = ({ zone, region }: GroupConfig): string =>
  zone === undefined ? `regions/${region}` : `zones/${zone}`;

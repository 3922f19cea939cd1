import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { count, duration, freeMap, unused } from '#core/schema.ts';

/** A text that counts as absent where it is empty, as in the stores that these documents come from. */
export const text = () => z.string().transform((written) => written || undefined);

export const region = text()
  .optional()
  .describe('The region, like `us-west-2`.')
  .meta({ defaultText: 'that of `zone`, else `AWS_REGION`, the profile or the machine’s own' });

/** The server sends signed requests there, so documents of others may not set it. */
export const endpoint = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("Endpoint of the API instead of AWS's own; only in the operator's own file.")
  .meta({ operatorOnly: true, shapes: false, defaultText: '`AWS_ENDPOINT_URL`, else AWS' });

const RESERVED_TAG = /^(aws:|muster:)/i;
const MOST_TAGS = 40;

export const tags = freeMap()
  .refine((map) => !Object.keys(map).some((key) => RESERVED_TAG.test(key)), 'must not begin with aws: or muster:')
  .refine(
    (map) => Object.keys(map).length <= MOST_TAGS,
    `must have at most ${MOST_TAGS} entries: AWS allows 50 tags, and Muster adds its own`,
  )
  .refine(
    (map) => Object.entries(map).every(([key, value]) => key.length <= 128 && value.length <= 256),
    'must have keys of at most 128 and values of at most 256 characters',
  )
  .optional()
  .describe('More tags for the machines.');

/** The fields that say where, what and how: also those of `template` in `aws_auto`. */
export const launchFields = {
  region,
  zone: text().optional().describe('The availability zone, like `us-west-2a`.'),
  launchTemplateName: text().optional().describe('A launch template by name.'),
  launchTemplateId: text().optional().describe('A launch template by id; in place of its name.'),
  launchTemplateVersion: z
    .union([z.string().min(1), z.int().min(1)])
    .transform(String)
    .optional()
    .meta({ sourceText: true, defaultText: '`$Default`', literal: true })
    .describe('Version of the launch template: a number, `$Default` or `$Latest`.'),
  instanceType: text().optional().describe('Instance type, like `p3.2xlarge`; overrides that of the template.'),
  amiId: text()
    .optional()
    .describe('Image id. `aws-ml` means the standard image, which is also the default without template and image.'),
  amiName: text()
    .optional()
    .describe(
      'Use the newest available image with a matching name, like `velda-agent-*`, and the architecture of the instance type.',
    ),
  amiOwner: text().optional().describe('With `ami_name`: another account, or `amazon`, whose images match too.'),
  subnetId: text().optional().describe('Subnet; in a template with network interfaces, that of the first one.'),
  securityGroupIds: z
    .array(z.string().min(1))
    .optional()
    .describe('Security groups; in a template with network interfaces, those of the first one.'),
  securityGroups: z
    .array(z.string().min(1))
    .optional()
    .describe('Security groups of the default VPC by name, in place of ids.')
    .meta({ defaultText: 'without ids, the default group of the VPC' }),
  keyName: text().optional().describe('An EC2 key pair for logging in.'),
  iamInstanceProfile: text().optional().describe('The instance profile, by name or ARN.'),
  market: z
    .enum(['on_demand', 'spot'])
    .default('on_demand')
    .describe('`spot` machines are cheaper, and AWS may reclaim them.'),
  spotMaxPrice: z
    .union([z.string().regex(/^\d+(\.\d+)?$/, 'must be a price in dollars an hour'), z.number().positive()])
    .transform(String)
    .optional()
    .describe('Highest price for a spot machine, in dollars an hour.')
    .meta({ defaultText: 'the on-demand price' }),
  tags,
  instanceNamePrefix: text()
    .optional()
    .describe('Prefix of the tag `Name`.')
    .meta({ defaultText: '`<launch_template_name>-`' }),
  useInstanceIdAsName: z
    .boolean()
    .default(false)
    .describe('Whether workers and host names are named after their instances: `i-0abc…`.'),
  ...agentFileFields,
  agentVersionOverride: unused('machines get the agent from the server, in its version'),
  maxStoppedInstances: count()
    .default(0)
    .describe('Number of idle machines to stop and keep instead of terminating them.')
    .meta({ shapes: false }),
  maxInstanceLifetime: duration()
    .prefault('0s')
    .describe('Terminate stopped machines older than this; 0 keeps them.')
    .meta({ shapes: false }),
  endpoint,
};

type Written = z.output<z.ZodObject<typeof launchFields>>;

/** EC2 finds names in the default VPC alone. */
function checkGroupNames(config: Written, context: z.RefinementCtx): void {
  if (!config.securityGroups) return;
  const { securityGroupIds, subnetId, launchTemplateName, launchTemplateId } = config;
  const others = { security_group_ids: securityGroupIds, subnet_id: subnetId };
  const named = { ...others, launch_template_name: launchTemplateName, launch_template_id: launchTemplateId };
  for (const [key, value] of Object.entries(named)) {
    const message = `cannot be combined with ${key}; set security_group_ids alone`;
    if (value) context.addIssue({ code: 'custom', path: ['securityGroups'], message });
  }
}

function checkLaunch(config: Written, context: z.RefinementCtx): void {
  const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  checkGroupNames(config, context);
  if (config.launchTemplateName && config.launchTemplateId)
    refuse('launchTemplateId', 'cannot be combined with launch_template_name; keep one of them');
  if (config.amiId && config.amiName) refuse('amiName', 'cannot be combined with ami_id; keep one of them');
  if (config.amiOwner && !config.amiName) refuse('amiOwner', 'has no effect without ami_name');
  if (config.spotMaxPrice && config.market !== 'spot') refuse('spotMaxPrice', 'has no effect without market: spot');
  if (config.market === 'spot' && config.maxStoppedInstances > 0)
    refuse('maxStoppedInstances', 'cannot be combined with market: spot, because spot machines cannot be stopped');
  const hasTemplate = config.launchTemplateName ?? config.launchTemplateId;
  if (!hasTemplate && config.launchTemplateVersion)
    refuse('launchTemplateVersion', 'has no effect without a launch template');
}

export const LaunchConfig = z
  .strictObject(launchFields)
  .superRefine(checkLaunch)
  .refine(
    (config) => config.instanceType ?? config.launchTemplateName ?? config.launchTemplateId,
    'needs instance_type or a launch template',
  );
export type LaunchConfig = z.output<typeof LaunchConfig>;

/** For `template` of `aws_auto`, whose types come from what the region offers. */
export const TemplateConfig = z.strictObject(launchFields).superRefine(checkLaunch);
export type TemplateConfig = z.output<typeof TemplateConfig>;

// `us-west-2` of `us-west-2a`, and of the local zone `us-west-2-lax-1a`.
const REGION_OF_ZONE = /^[a-z]{2}(?:-[a-z]+)+-\d+/;

/** The region that the configuration itself names. */
export function regionIn({ region: named, zone }: { region?: string | undefined; zone?: string | undefined }) {
  return named ?? REGION_OF_ZONE.exec(zone ?? '')?.[0];
}

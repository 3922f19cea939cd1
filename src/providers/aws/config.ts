import { z } from 'zod';
import { isAgentText } from '#boot/agent-file.ts';
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
  .describe("Where the API is asked in place of AWS's own address; only in the operator's own file.")
  .meta({ operatorOnly: true, shapes: false, defaultText: '`AWS_ENDPOINT_URL`, else AWS' });

/** What the agents' file gets beside what every launch says. */
const agentConfig = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('More for the agent’s file; pool, token and name are always those of the launch.')
  .meta({ hidden: true });

const RESERVED_TAG = /^(aws:|muster:)/i;
const MOST_TAGS = 40;

const tags = freeMap()
  .refine((map) => !Object.keys(map).some((key) => RESERVED_TAG.test(key)), 'must not begin with aws: or muster:')
  .refine(
    (map) => Object.keys(map).length <= MOST_TAGS,
    `must not be more than ${MOST_TAGS}, for EC2 takes 50 with ours`,
  )
  .refine(
    (map) => Object.entries(map).every(([key, value]) => key.length <= 128 && value.length <= 256),
    'must have keys of at most 128 and values of at most 256 characters',
  )
  .optional()
  .describe('Tags for the instances, beside those by which we know them.');

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
    .describe('Its version: a number, `$Default` or `$Latest`.'),
  instanceType: text().optional().describe('The type, like `p3.2xlarge`; wins over that of the template.'),
  amiId: text()
    .optional()
    .describe('The image; `aws-ml` stands for the standard image, which is also taken without template and image.'),
  amiName: text().optional().describe('The newest available image whose name fits, like `velda-agent-*`.'),
  amiOwner: text()
    .optional()
    .describe('With `ami_name`: an account, or `amazon`, whose images count beside those of the own account.'),
  subnetId: text().optional().describe('The subnet; in a template with interfaces, that of the first.'),
  securityGroupIds: z.array(z.string().min(1)).optional().describe('The security groups, likewise.'),
  keyName: text().optional().describe('An EC2 key pair for logging in.'),
  iamInstanceProfile: text().optional().describe('The instance profile, by name or ARN.'),
  market: z
    .enum(['on_demand', 'spot'])
    .default('on_demand')
    .describe('`spot` machines are cheap, and may be taken away.'),
  spotMaxPrice: z
    .union([z.string().regex(/^\d+(\.\d+)?$/, 'must be dollars an hour'), z.number().positive()])
    .transform(String)
    .optional()
    .describe('The most to pay for a spot machine, in dollars an hour.')
    .meta({ defaultText: 'the on-demand price' }),
  tags,
  instanceNamePrefix: text()
    .optional()
    .describe('What the tag `Name` begins with.')
    .meta({ defaultText: '`<launch_template_name>-`' }),
  useInstanceIdAsName: z
    .boolean()
    .default(false)
    .describe('Whether workers and host names are called as their instances: `i-0abc…`.'),
  agentConfig,
  agentConfigContent: z
    .string()
    .refine(isAgentText, 'must be the YAML or JSON of an agent’s file')
    .optional()
    .describe('The same as text; `agent_config` wins.')
    .meta({ hidden: true, literal: true }),
  agentVersionOverride: unused('machines get the agent from the server, in its version'),
  maxStoppedInstances: count()
    .default(0)
    .describe('How many idle machines to stop and keep in place of ending them.')
    .meta({ shapes: false }),
  maxInstanceLifetime: duration()
    .prefault('0s')
    .describe('Stopped machines older than this are ended; 0 keeps them.')
    .meta({ shapes: false }),
  endpoint,
};

type Written = z.output<z.ZodObject<typeof launchFields>>;

function checkLaunch(config: Written, context: z.RefinementCtx): void {
  const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  if (config.launchTemplateName && config.launchTemplateId)
    refuse('launchTemplateId', 'stands beside launch_template_name; keep one of them');
  if (config.amiId && config.amiName) refuse('amiName', 'stands beside ami_id; keep one of them');
  if (config.amiOwner && !config.amiName) refuse('amiOwner', 'has no meaning without ami_name');
  if (config.spotMaxPrice && config.market !== 'spot') refuse('spotMaxPrice', 'has no meaning without market: spot');
  if (config.market === 'spot' && config.maxStoppedInstances > 0)
    refuse('maxStoppedInstances', 'cannot be with market: spot, for such machines cannot be stopped');
  const hasTemplate = config.launchTemplateName ?? config.launchTemplateId;
  if (!hasTemplate && config.launchTemplateVersion)
    refuse('launchTemplateVersion', 'has no meaning without a launch template');
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

import type { InstanceNetworkInterfaceSpecification, RunInstancesCommandInput } from '@aws-sdk/client-ec2';
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, WORK_DIR } from '#boot/script.ts';
import { userData } from '#boot/user-data.ts';
import { Fault } from '#core/fault.ts';
import type { Launch } from '#core/provider.ts';
import type { LaunchConfig } from '../config.ts';
import { isStandard } from './images.ts';
import { tagsFor, type Who } from './marks.ts';
import { namingOf } from './naming.ts';
import type { Template } from './template.ts';

// Before base64.
const USER_DATA_LIMIT = { cloud: 'EC2', bytes: 16 * 1024 };

/** One call to RunInstances: who it makes, under which token. */
export interface RunCall {
  readonly who: Who;
  readonly names: readonly string[];
  readonly token: string;
}

/** What was found for a launch: the same for all its calls and repeats. */
export interface Found {
  readonly template: Template | undefined;
  readonly image: string | undefined;
}

function scriptFor(config: LaunchConfig, { boot }: Launch, who: Who): string {
  if (isStandard(config) && !boot.install) {
    throw new Fault('unsupported', 'The standard image has no agent, and this server offers none.', {
      remedy: 'Set an image with the agent as ami_id or ami_name, or set a launch template.',
    });
  }
  const naming = namingOf(config.useInstanceIdAsName ? 'instance id' : who);
  const settings = {
    name: NAME_PLACE,
    ...(hasWorkDir(config) ? {} : { workDir: WORK_DIR }),
    ...(config.market === 'spot' && { notices: 'aws' }),
  };
  return bootScript({ naming, agentFile: agentFile(withOverrides(boot, config), settings), install: boot.install });
}

/** EC2 refuses subnet and groups beside a template that has interfaces: there they belong into the first. */
function network(
  { subnetId, securityGroupIds = [], securityGroups = [] }: LaunchConfig,
  template: Template | undefined,
): Pick<RunInstancesCommandInput, 'SubnetId' | 'SecurityGroupIds' | 'SecurityGroups' | 'NetworkInterfaces'> {
  const own = { ...(subnetId && { SubnetId: subnetId }) };
  const hasGroups = securityGroupIds.length > 0;
  const interfaces = template?.interfaces ?? [];
  if (securityGroups.length > 0) return { SecurityGroups: securityGroups };
  if (interfaces.length === 0) return { ...own, ...(hasGroups && { SecurityGroupIds: securityGroupIds }) };
  if (!subnetId && !hasGroups) return {};
  const changed = (one: InstanceNetworkInterfaceSpecification): InstanceNetworkInterfaceSpecification =>
    (one.DeviceIndex ?? 0) === 0 && (one.NetworkCardIndex ?? 0) === 0
      ? { ...one, DeviceIndex: 0, ...own, ...(hasGroups && { Groups: securityGroupIds }) }
      : one;
  return { NetworkInterfaces: interfaces.map(changed) };
}

const profile = (named: string) => (named.startsWith('arn:') ? { Arn: named } : { Name: named });

function market({ market: chosen, spotMaxPrice }: LaunchConfig): Partial<RunInstancesCommandInput> {
  if (chosen !== 'spot') return {};
  const price = spotMaxPrice === undefined ? {} : { MaxPrice: spotMaxPrice };
  const SpotOptions = { SpotInstanceType: 'one-time', InstanceInterruptionBehavior: 'terminate', ...price } as const;
  return { InstanceMarketOptions: { MarketType: 'spot', SpotOptions } };
}

/** What the configuration says about the machines themselves. */
function machine(config: LaunchConfig, { template, image }: Found): Partial<RunInstancesCommandInput> {
  return {
    ...(template && { LaunchTemplate: { LaunchTemplateId: template.id, Version: template.version } }),
    ...(image && { ImageId: image }),
    ...(config.instanceType && { InstanceType: config.instanceType as RunInstancesCommandInput['InstanceType'] }),
    ...(config.keyName && { KeyName: config.keyName }),
    ...(config.iamInstanceProfile && { IamInstanceProfile: profile(config.iamInstanceProfile) }),
    ...(config.zone && { Placement: { AvailabilityZone: config.zone } }),
    ...(config.useInstanceIdAsName && { PrivateDnsNameOptions: { HostnameType: 'resource-name' } }),
    ...(!template && { MetadataOptions: { HttpTokens: 'required', HttpEndpoint: 'enabled' } }),
  };
}

/** The same bytes for the same launch and findings, however often it is repeated. */
export function runRequest(
  config: LaunchConfig,
  launch: Launch,
  { call, found, most }: { readonly call: RunCall; readonly found: Found; readonly most: number },
): RunInstancesCommandInput {
  return {
    MinCount: 1,
    MaxCount: most,
    ClientToken: call.token,
    ...machine(config, found),
    ...network(config, found.template),
    ...market(config),
    // A machine that shuts itself down is done: stopped, it would cost and never come back.
    InstanceInitiatedShutdownBehavior: 'terminate',
    UserData: userData(scriptFor(config, launch, call.who), found.template?.userData, USER_DATA_LIMIT).toString(
      'base64',
    ),
    TagSpecifications: [{ ResourceType: 'instance', Tags: tagsFor(config, launch, call.who) }],
  };
}

import type { Image } from '@aws-sdk/client-ec2';
import { Fault } from '#core/fault.ts';
import { AGENT_IMAGE, buildFirst } from '#core/image-builder.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service, SsmCalls } from '../client.ts';
import type { LaunchConfig } from '../config.ts';
import { architecturesOf } from './architecture.ts';

/** Stands for the standard image. */
const STANDARD = 'aws-ml';
// AWS keeps the id of its current deep learning image there: Ubuntu with the NVIDIA driver, for every type of machine.
const standardParameter = (architecture: string): string =>
  `/aws/service/deeplearning/ami/${architecture}/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id`;
const ARM = 'arm64';
const KEEP_MS = 24 * 3_600_000;

const ageOf = ({ CreationDate = '', ImageId = '' }: Image): string => `${CreationDate} ${ImageId}`;
const byAge = (a: Image, b: Image): number => (ageOf(a) < ageOf(b) ? -1 : 1);

/** Whether machines start from an image that brings no agent: nothing else is named, or it is asked for. */
export function isStandard({ amiId, amiName, launchTemplateName, launchTemplateId }: LaunchConfig): boolean {
  return amiId === STANDARD || (!amiId && !amiName && !launchTemplateName && !launchTemplateId);
}

async function standardImage(
  { ask, region }: Service<SsmCalls>,
  architecture: string,
  signal: AbortSignal,
): Promise<string> {
  const { Parameter } = await ask('GetParameter', { Name: standardParameter(architecture) }, { signal });
  if (Parameter?.Value) return Parameter.Value;
  throw new Fault('missing', `AWS has no standard image of the architecture ${architecture} for ${region}.`, {
    remedy: 'Set ami_id or ami_name.',
  });
}

interface WantedImage {
  readonly name: string;
  readonly owner: string | undefined;
  /** Empty: any. */
  readonly architectures: readonly string[];
}

/** The newest that is available and fits the type; never one that just anybody published under a fitting name. */
async function namedImage(
  { ask, clock, region }: Service<Ec2Calls>,
  { name, owner, architectures }: WantedImage,
  signal: AbortSignal,
): Promise<string> {
  const owners = ['self', ...(owner ? [owner] : [])];
  const filters = [
    { Name: 'name', Values: [name] },
    { Name: 'state', Values: ['available'] },
    ...(architectures.length > 0 ? [{ Name: 'architecture', Values: [...architectures] }] : []),
  ];
  const all: Image[] = [];
  await inPages(clock, signal, async (token) => {
    const input = { Owners: owners, Filters: filters, MaxResults: 1_000, ...(token ? { NextToken: token } : {}) };
    const { Images = [], NextToken } = await ask('DescribeImages', input, { signal });
    all.push(...Images);
    return NextToken;
  });
  const newest = all.toSorted(byAge).at(-1)?.ImageId;
  if (newest) return newest;
  const fitting = architectures.length > 0 ? ` and has the architecture ${architectures.join(' or ')}` : '';
  throw new Fault('missing', `No image of ${owners.join(' or ')} in ${region} is named ${name}${fitting}.`, {
    remedy: name.startsWith(AGENT_IMAGE)
      ? buildFirst('aws-ami', { region })
      : 'Correct ami_name, or set its owner as ami_owner; the image must have the architecture of the instance type.',
  });
}

export interface ImageDeps {
  readonly ec2: Service<Ec2Calls>;
  ssm(): Promise<Service<SsmCalls>>;
}

/** The image of a configuration; nothing where the launch template brings it. */
export async function findImage(
  { ec2, ssm }: ImageDeps,
  { config, type }: { readonly config: LaunchConfig; readonly type: string | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { amiId, amiName: name, amiOwner: owner } = config;
  if (!name && !isStandard(config)) return amiId;
  const architectures = await architecturesOf(ec2, type, signal);
  if (name) return namedImage(ec2, { name, owner, architectures }, signal);
  const architecture = architectures.includes(ARM) ? ARM : 'x86_64';
  const service = await ssm();
  return service.keep(`standard image ${architecture}`, KEEP_MS, () => standardImage(service, architecture, signal));
}

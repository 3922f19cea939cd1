import type { Image } from '@aws-sdk/client-ec2';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service, SsmCalls } from '../client.ts';
import type { LaunchConfig } from '../config.ts';

/** Stands for the standard image. */
const STANDARD = 'aws-ml';
// AWS keeps the id of its current deep learning image there: Ubuntu with the NVIDIA driver, for every type of machine.
const STANDARD_PARAMETER = '/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id';
const KEEP_MS = 24 * 3_600_000;

const ageOf = ({ CreationDate = '', ImageId = '' }: Image): string => `${CreationDate} ${ImageId}`;
const byAge = (a: Image, b: Image): number => (ageOf(a) < ageOf(b) ? -1 : 1);

/** Whether machines start from an image that brings no agent: nothing else is named, or it is asked for. */
export function isStandard({ amiId, amiName, launchTemplateName, launchTemplateId }: LaunchConfig): boolean {
  return amiId === STANDARD || (!amiId && !amiName && !launchTemplateName && !launchTemplateId);
}

export interface ImageDeps {
  readonly ec2: Service<Ec2Calls>;
  ssm(): Promise<Service<SsmCalls>>;
  readonly clock: Clock;
}

/** Finds the image of a configuration; nothing where the launch template brings it. */
export function openImages({ ec2, ssm, clock }: ImageDeps) {
  let kept: { readonly id: string; readonly untilMs: number } | undefined;

  async function standardImage(signal: AbortSignal): Promise<string> {
    if (kept && clock.monotonic() < kept.untilMs) return kept.id;
    const asked = await (await ssm()).ask('GetParameter', { Name: STANDARD_PARAMETER }, { signal });
    const id = asked.Parameter?.Value;
    if (!id) {
      throw new Fault('missing', `AWS has no standard image for ${ec2.region}.`, {
        remedy: 'Set ami_id or ami_name.',
      });
    }
    kept = { id, untilMs: clock.monotonic() + KEEP_MS };
    return id;
  }

  /** The newest that is available; never one that just anybody published under a fitting name. */
  async function namedImage(name: string, owner: string | undefined, signal: AbortSignal): Promise<string> {
    const owners = ['self', ...(owner ? [owner] : [])];
    const filters = [
      { Name: 'name', Values: [name] },
      { Name: 'state', Values: ['available'] },
    ];
    const all: Image[] = [];
    await inPages(clock, signal, async (token) => {
      const input = { Owners: owners, Filters: filters, MaxResults: 1_000, ...(token ? { NextToken: token } : {}) };
      const { Images = [], NextToken } = await ec2.ask('DescribeImages', input, { signal });
      all.push(...Images);
      return NextToken;
    });
    const newest = all.toSorted(byAge).at(-1)?.ImageId;
    if (newest) return newest;
    throw new Fault('missing', `No image of ${owners.join(' or ')} in ${ec2.region} is named ${name}.`, {
      remedy: 'Correct ami_name, or set its owner as ami_owner.',
    });
  }

  return async (config: LaunchConfig, signal: AbortSignal): Promise<string | undefined> => {
    if (isStandard(config)) return standardImage(signal);
    if (config.amiName) return namedImage(config.amiName, config.amiOwner, signal);
    return config.amiId;
  };
}

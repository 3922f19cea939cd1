import type {
  InstanceNetworkInterfaceSpecification,
  LaunchTemplateVersion,
  ResponseLaunchTemplateData,
} from '@aws-sdk/client-ec2';
import { Fault } from '#core/fault.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service } from '../client.ts';
import type { LaunchConfig } from '../config.ts';

/** One version of a launch template: what its default is may change between two calls. */
export interface Template {
  readonly id: string;
  readonly version: string;
  readonly instanceType: string | undefined;
  readonly userData: string | undefined;
  readonly interfaces: readonly InstanceNetworkInterfaceSpecification[];
}

const DEFAULT_VERSION = '$Default';

/** The template that the configuration names, as it is now; nothing where it names none. */
export async function readTemplate(
  ec2: Service<Ec2Calls>,
  config: LaunchConfig,
  signal: AbortSignal,
): Promise<Template | undefined> {
  const { launchTemplateName: name, launchTemplateId: id } = config;
  if (name === undefined && id === undefined) return undefined;
  const wanted = config.launchTemplateVersion ?? DEFAULT_VERSION;
  const input = { ...(id === undefined ? { LaunchTemplateName: name } : { LaunchTemplateId: id }), Versions: [wanted] };
  let found: LaunchTemplateVersion | undefined;
  await inPages(ec2.clock, signal, async (token) => {
    const asked = { ...input, ...(token ? { NextToken: token } : {}) };
    const page = await ec2.ask('DescribeLaunchTemplateVersions', asked, { signal });
    found ??= page.LaunchTemplateVersions?.[0];
    return found ? undefined : page.NextToken;
  });
  if (!found?.LaunchTemplateId || found.VersionNumber === undefined) {
    throw new Fault('missing', `The launch template ${id ?? name} has no version ${wanted} in ${ec2.region}.`, {
      remedy: 'Create it in this region, or correct launch_template_name and launch_template_version.',
    });
  }
  return {
    id: found.LaunchTemplateId,
    version: String(found.VersionNumber),
    instanceType: found.LaunchTemplateData?.InstanceType,
    userData: found.LaunchTemplateData?.UserData,
    interfaces: interfacesOf(found.LaunchTemplateData),
  };
}

/** The template's interfaces as a call writes them; addresses that only one machine can have are left out. */
function interfacesOf(data: ResponseLaunchTemplateData | undefined): InstanceNetworkInterfaceSpecification[] {
  return (data?.NetworkInterfaces ?? []).map((one) => {
    const { Ipv6Addresses: _six, PrivateIpAddress: _ip, PrivateIpAddresses: _ips, ...rest } = one;
    const { Ipv4Prefixes: _p4, Ipv6Prefixes: _p6, ...shared } = rest;
    return shared as InstanceNetworkInterfaceSpecification;
  });
}

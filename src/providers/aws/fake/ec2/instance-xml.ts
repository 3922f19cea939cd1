import type { Xml } from '../wire/xml.ts';
import { type Instance, STATE_CODES, type StateName, stepAt } from './instance.ts';
import { tagSet } from './tags.ts';

export const stateXml = (name: StateName): Xml => ({ code: STATE_CODES[name], name });

const iso = (ms: number): string => new Date(ms).toISOString();

function interfaceXml(instance: Instance): Xml {
  return {
    networkInterfaceId: `eni-${instance.id.slice(2)}`,
    subnetId: instance.subnetId,
    vpcId: instance.vpcId,
    status: 'in-use',
    privateIpAddress: instance.privateIp,
    groupSet: groupSet(instance),
    attachment: {
      deviceIndex: 0,
      status: 'attached',
      attachTime: iso(instance.createdAtMs),
      deleteOnTermination: true,
    },
  };
}

const groupSet = ({ groups }: Instance): Xml => groups.map(({ id, name }) => ({ groupId: id, groupName: name }));

/** Where and how it stands in the network; what has ended has no address any more. */
function placeXml(instance: Instance, isGone: boolean): Readonly<Record<string, Xml>> {
  if (isGone) return { networkInterfaceSet: [], groupSet: [] };
  return {
    subnetId: instance.subnetId,
    vpcId: instance.vpcId,
    privateIpAddress: instance.privateIp,
    ipAddress: instance.publicIp,
    groupSet: groupSet(instance),
    networkInterfaceSet: [interfaceXml(instance)],
  };
}

/** An instance as it was at a moment. */
export function instanceXml(instance: Instance, atMs: number): Xml {
  const step = stepAt(instance, atMs) ?? { state: 'pending' as const, atMs, reason: undefined };
  return {
    instanceId: instance.id,
    imageId: instance.imageId,
    instanceState: stateXml(step.state),
    privateDnsName: `ip-${instance.privateIp.replaceAll('.', '-')}.${instance.region}.compute.internal`,
    reason: step.reason && `${step.reason.message} (${iso(step.atMs)})`,
    keyName: instance.keyName,
    amiLaunchIndex: instance.launchIndex,
    instanceType: instance.type,
    launchTime: iso(instance.launchedAtMs),
    placement: { availabilityZone: instance.zone, tenancy: 'default' },
    monitoring: { state: 'disabled' },
    ...placeXml(instance, step.state === 'terminated'),
    stateReason: step.reason && { code: step.reason.code, message: step.reason.message },
    architecture: instance.architecture,
    rootDeviceType: 'ebs',
    rootDeviceName: '/dev/xvda',
    instanceLifecycle: instance.spotRequest && 'spot',
    spotInstanceRequestId: instance.spotRequest,
    clientToken: instance.clientToken,
    iamInstanceProfile: instance.profile && { arn: instance.profile },
    tagSet: tagSet(instance.tags),
    hypervisor: 'xen',
    virtualizationType: 'hvm',
  };
}

/** Instances of one launch share a reservation; on a page each stands once, with those of its instances that are on it. */
export function reservationSet(
  instances: readonly Instance[],
  account: string,
  atMsOf: (one: Instance) => number,
): Xml {
  const byReservation = Map.groupBy(instances, ({ reservation }) => reservation);
  return [...byReservation].map(([reservationId, members]) => ({
    reservationId,
    ownerId: account,
    groupSet: [],
    instancesSet: members.map((instance) => instanceXml(instance, atMsOf(instance))),
  }));
}

import { refusal } from '#fakes/refusal.ts';
import { hexId } from '../hex-id.ts';
import { isSet, textAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { forget } from './describe-instances.ts';
import type { Instance, Step } from './instance.ts';
import { instanceXml } from './instance-xml.ts';
import { type Found, findAll } from './launch-check.ts';
import { firstInterface, type Wanted, wantedOf } from './merge-template.ts';
import { isPromiseOnly, take } from './stock.ts';
import { checkCount, checkShown } from './tags.ts';

const NO_CAPACITY = {
  code: 'Server.InsufficientInstanceCapacity',
  message: 'Server.InsufficientInstanceCapacity: Insufficient capacity to satisfy instance request',
};

/** The reply is the same for a repeated call, but for the states, which are those of now. */
function answer(ask: Ask, instances: readonly Instance[]): Readonly<Record<string, Xml>> {
  return {
    reservationId: instances[0]?.reservation,
    ownerId: ask.world.account,
    groupSet: [],
    instancesSet: instances.map((instance) => instanceXml(instance, ask.nowMs)),
  };
}

function fingerprintOf({ body }: Ask): string {
  const { ClientToken: _token, ...rest } = body;
  return JSON.stringify(Object.entries(rest).toSorted());
}

/** A token that was used before names the launch that it made; for any other launch it is refused. */
function earlier(ask: Ask): readonly Instance[] | undefined {
  const before = ask.region.launches.get(textAt(ask.params, 'ClientToken') ?? '');
  if (before && before.fingerprint !== fingerprintOf(ask)) {
    throw refusal(
      'IdempotentParameterMismatch',
      'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
    );
  }
  return before?.instances;
}

const showsTags = ({ params }: Wanted): boolean => textAt(params, 'MetadataOptions.InstanceMetadataTags') === 'enabled';

function tagsOf(wanted: Wanted): Map<string, string> {
  const { instanceTags, template } = wanted;
  checkCount(instanceTags);
  if (showsTags(wanted)) checkShown(instanceTags);
  if (!template) return instanceTags;
  return new Map([
    ...instanceTags,
    ['aws:ec2launchtemplate:id', template.id],
    ['aws:ec2launchtemplate:version', String(template.version)],
  ]);
}

function timelineOf({ world, region, nowMs }: Ask, type: string): Step[] {
  const { bootMs, lateCapacityMs } = world.behaviour;
  const first: Step = { atMs: nowMs, state: 'pending' };
  return isPromiseOnly(region, type)
    ? [first, { atMs: nowMs + lateCapacityMs, state: 'terminated', reason: NO_CAPACITY }]
    : [first, { atMs: nowMs + bootMs, state: 'running' }];
}

/** 10.<three bytes of the sequence>: enough for every test. */
function addressOf(first: number, sequence: number): string {
  return [first, (sequence >> 16) & 255, (sequence >> 8) & 255, sequence & 255].join('.');
}

function profileOf({ world }: Ask, { params }: Wanted): string | undefined {
  const name = textAt(params, 'IamInstanceProfile.Name');
  return textAt(params, 'IamInstanceProfile.Arn') ?? (name && `arn:aws:iam::${world.account}:instance-profile/${name}`);
}

interface Batch {
  readonly wanted: Wanted;
  readonly found: Found;
  readonly reservation: string;
  readonly isSpot: boolean;
}

function make(ask: Ask, { wanted, found, reservation, isSpot }: Batch, launchIndex: number): Instance {
  const { world, region, nowMs } = ask;
  const { params } = wanted;
  const sequence = world.nextSequence();
  // The subnets of a default VPC give a public address, unless the interface says otherwise.
  const hasPublicIp = textAt(firstInterface(params), 'AssociatePublicIpAddress') !== 'false';
  return {
    id: hexId('i', world.random),
    region: region.name,
    zone: found.subnet.zone,
    reservation,
    sequence,
    launchIndex,
    imageId: found.image.id,
    type: found.type.name,
    vcpus: found.type.vcpus,
    architecture: found.image.architecture,
    subnetId: found.subnet.id,
    vpcId: found.subnet.vpcId,
    groups: found.groups,
    keyName: textAt(params, 'KeyName'),
    profile: profileOf(ask, wanted),
    userData: textAt(params, 'UserData'),
    clientToken: textAt(params, 'ClientToken'),
    spotRequest: isSpot ? hexId('sir', world.random) : undefined,
    privateIp: addressOf(10, sequence),
    publicIp: hasPublicIp ? addressOf(54, sequence) : undefined,
    atShutdown: textAt(params, 'InstanceInitiatedShutdownBehavior') === 'terminate' ? 'terminate' : 'stop',
    showsTags: showsTags(wanted),
    createdAtMs: nowMs,
    launchedAtMs: nowMs,
    tags: tagsOf(wanted),
    timeline: timelineOf(ask, found.type.name),
    interruption: undefined,
  };
}

export function runInstances(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params, world, nowMs } = ask;
  const before = earlier(ask);
  if (before) return answer(ask, before);
  forget(region, world, nowMs);
  const wanted = wantedOf(region, params);
  const found = findAll(region, wanted.params);
  if (isSet(params, 'DryRun')) {
    throw refusal('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
  }
  const isSpot = textAt(wanted.params, 'InstanceMarketOptions.MarketType') === 'spot';
  const count = take({ region, type: found.type, zone: found.subnet.zone, isSpot, nowMs }, found);
  const batch: Batch = { wanted, found, reservation: hexId('r', world.random), isSpot };
  const instances = Array.from({ length: count }, (_, index) => make(ask, batch, index));
  for (const instance of instances) region.instances.set(instance.id, instance);
  const token = textAt(params, 'ClientToken');
  if (token !== undefined) region.launches.set(token, { fingerprint: fingerprintOf(ask), instances });
  for (const instance of instances) world.changed(instance);
  return answer(ask, instances);
}

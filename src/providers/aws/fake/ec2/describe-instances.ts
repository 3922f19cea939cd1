import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { Region } from '../region.ts';
import { has, numberAt, textAt, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask, World } from '../world.ts';
import { filterOf, lookAtTags } from './filters.ts';
import { endedAtMs, type Instance, STATE_CODES, stateAt } from './instance.ts';
import { reservationSet } from './instance-xml.ts';

const FILTERS = new Set([
  'instance-id',
  'instance-state-name',
  'instance-state-code',
  'client-token',
  'image-id',
  'instance-type',
  'availability-zone',
  'subnet-id',
  'vpc-id',
  'reservation-id',
  'instance-lifecycle',
  'launch-index',
  'private-ip-address',
  'tag-key',
  'tag-value',
]);

/** Listings show the world as it was a while ago: what is new is not in them yet, what has ended still is. */
export function seenAtMs({ behaviour }: World, instance: Instance, nowMs: number): number {
  const { listLagMs } = behaviour;
  return nowMs - (typeof listLagMs === 'number' ? listLagMs : listLagMs(instance.id));
}

const isForgotten = (instance: Instance, { behaviour }: World, nowMs: number): boolean =>
  nowMs - (endedAtMs(instance) ?? nowMs) > behaviour.keepTerminatedMs;

/** What a caller can know of, in the order of making. */
export function seenInstances({ world, region, nowMs }: Pick<Ask, 'world' | 'region' | 'nowMs'>): Instance[] {
  return [...region.instances.values()].filter(
    (one) => one.createdAtMs <= seenAtMs(world, one, nowMs) && !isForgotten(one, world, seenAtMs(world, one, nowMs)),
  );
}

const listed = (ask: Ask): Instance[] => (ask.world.behaviour.hidesAll ? [] : seenInstances(ask));

/** One id that cannot be found refuses the whole call. */
export function named(ask: Pick<Ask, 'world' | 'region' | 'nowMs'>, ids: readonly string[]): Instance[] {
  const malformed = ids.find((id) => !/^i-[0-9a-f]{8,17}$/.test(id));
  if (malformed !== undefined) {
    throw refusal('InvalidInstanceID.Malformed', `Invalid id: "${malformed}"`);
  }
  const missing = ids.filter((id) => !isSeen(ask, ask.region.instances.get(id)));
  if (missing.length === 1) {
    throw refusal('InvalidInstanceID.NotFound', `The instance ID '${missing[0]}' does not exist`);
  }
  if (missing.length > 1) {
    throw refusal('InvalidInstanceID.NotFound', `The instance IDs '${missing.join(', ')}' do not exist`);
  }
  return ids.map((id) => ask.region.instances.get(id) as Instance);
}

function isSeen({ world, nowMs }: Pick<Ask, 'world' | 'nowMs'>, instance: Instance | undefined): boolean {
  if (!instance) return false;
  const atMs = seenAtMs(world, instance, nowMs);
  return instance.createdAtMs <= atMs && !isForgotten(instance, world, atMs);
}

function look(instance: Instance, name: string, atMs: number): readonly (string | undefined)[] | undefined {
  const state = stateAt(instance, atMs);
  const held: Readonly<Record<string, string | undefined>> = {
    'instance-id': instance.id,
    'instance-state-name': state,
    'instance-state-code': String(STATE_CODES[state]),
    'client-token': instance.clientToken,
    'image-id': instance.imageId,
    'instance-type': instance.type,
    'availability-zone': instance.zone,
    'subnet-id': instance.subnetId,
    'vpc-id': instance.vpcId,
    'reservation-id': instance.reservation,
    'instance-lifecycle': instance.spotRequest && 'spot',
    'launch-index': String(instance.launchIndex),
    'private-ip-address': instance.privateIp,
  };
  return lookAtTags(instance.tags, name) ?? [held[name]];
}

export function readPageSize(ask: Ask, { least, most }: { least: number; most: number }): number {
  const size = numberAt(ask.params, 'MaxResults');
  if (size !== undefined && !(size >= least && size <= most)) {
    throw refusal(
      'InvalidParameterValue',
      `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value between ${least} and ${most}.`,
    );
  }
  return Math.min(size ?? most, ask.world.behaviour.largestPage);
}

/** Pages of anything that EC2 lists. */
export function ec2Page<T>(ask: Ask, items: readonly T[], shape: { size: number; keyOf(item: T): string }) {
  const { world, nowMs, params, body } = ask;
  const { NextToken: token, MaxResults: _size, ...question } = body as Readonly<Record<string, string>>;
  const { emptyPages, tokenLifeMs } = world.behaviour;
  const asked = { of: JSON.stringify(question), token, size: shape.size, nowMs, emptyPages, tokenLifeMs };
  const cursor = cursorOf(asked);
  if (!cursor) {
    throw refusal('InvalidPaginationToken', `The pagination token is not valid: ${textAt(params, 'NextToken')}`);
  }
  return pageOf(asked, cursor, inOrder(items, shape.keyOf));
}

const orderOf = ({ sequence }: Instance): string => String(sequence).padStart(12, '0');

export function describeInstances(ask: Ask): Readonly<Record<string, Xml>> {
  const { world, params, nowMs } = ask;
  if (has(params, 'InstanceId') && has(params, 'MaxResults')) {
    throw refusal(
      'InvalidParameterCombination',
      'The parameter instancesSet cannot be used with the parameter maxResults',
    );
  }
  const size = readPageSize(ask, { least: 5, most: 1_000 });
  const among = has(params, 'InstanceId') ? named(ask, textsAt(params, 'InstanceId')) : listed(ask);
  const atMsOf = (instance: Instance): number => seenAtMs(world, instance, nowMs);
  const passes = filterOf<Instance>(params, (instance, name) => look(instance, name, atMsOf(instance)), FILTERS);
  const { items, token } = ec2Page(ask, among.filter(passes).toSorted(byOrder), { size, keyOf: orderOf });
  return { reservationSet: reservationSet(items, world.account, atMsOf), nextToken: token };
}

const byOrder = (a: Instance, b: Instance): number => a.sequence - b.sequence;

/** Frees what is no longer listed. */
export function forget(region: Region, world: World, nowMs: number): void {
  for (const instance of region.instances.values()) {
    if (isForgotten(instance, world, seenAtMs(world, instance, nowMs))) region.instances.delete(instance.id);
  }
}

// Many instances by one call, each by a name that the caller gives.
import { SECOND_MS } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import type { GcpCall } from '../read-call.ts';
import { imageAt } from './images.ts';
import { isGone, type RunTime } from './instance.ts';
import { makeInstance } from './make.ts';
import { beginOperation, type FakeError, shownOperation } from './operations.ts';
import { checkReferences, type Referring } from './references.ts';
import { architectureOfImage, architectureOfType, MACHINE_TYPES } from './seed-data.ts';
import type { ComputeState } from './state.ts';
import { takeRoom } from './stock.ts';

type Body = Readonly<Record<string, unknown>>;

interface Properties extends Referring {
  readonly machineType?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: { readonly items?: readonly { readonly key: string; readonly value: string }[] };
  readonly scheduling?: {
    readonly provisioningModel?: string;
    readonly maxRunDuration?: { readonly seconds?: string | number };
    readonly instanceTerminationAction?: string;
  };
  readonly disks?: readonly {
    readonly boot?: boolean;
    readonly autoDelete?: boolean;
    readonly initializeParams?: { readonly sourceImage?: string; readonly diskType?: string };
  }[];
}

interface Place {
  readonly project: string;
  readonly place: string;
}

const zoneOf = ({ place }: Place): string => place.replace('zones/', '');

const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const LABEL_VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const MOST_BYTES = 256 * 1024;

const badField = (field: string, value: string, why: string): Error =>
  refusal('invalid', `Invalid value for field 'resource.instanceProperties.${field}': '${value}'. ${why}`);

const [LEAST_SECONDS, MOST_SECONDS] = [30, 120 * 86_400];

/** How long it may run, within Google's limits. */
function runTimeOf({ scheduling = {} }: Properties): RunTime | undefined {
  const { maxRunDuration, instanceTerminationAction: action } = scheduling;
  if (!maxRunDuration) return undefined;
  const seconds = Number(maxRunDuration.seconds);
  if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS))
    throw badField('scheduling.maxRunDuration', `${seconds}`, 'It must be between 30 seconds and 120 days.');
  if (action !== 'DELETE' && action !== 'STOP')
    throw badField('scheduling.instanceTerminationAction', '', 'It must be specified with maxRunDuration.');
  return { ms: seconds * SECOND_MS, action };
}

function checkImage(state: ComputeState, path: string, machineType: string): void {
  const field = 'disks[0].initializeParams.sourceImage';
  const image = imageAt(state, path);
  if (image === undefined) throw badField(field, path, 'The referenced image resource cannot be found.');
  const [has, needs] = [architectureOfImage(image), architectureOfType(machineType)];
  if (has === needs) return;
  throw badField(field, path, `The ${has} image is not compatible with the ${needs} machine type ${machineType}.`);
}

const bootImage = ({ disks = [] }: Properties): string =>
  disks.find(({ boot }) => boot)?.initializeParams?.sourceImage ?? '';

const keepsDisk = ({ disks = [] }: Properties): boolean =>
  disks.some(({ boot, autoDelete }) => boot && autoDelete === false);

/** Refuses what Compute Engine refuses before it begins. */
function checkProperties(state: ComputeState, properties: Properties): void {
  const { machineType = '', labels = {}, metadata } = properties;
  if (!MACHINE_TYPES.has(machineType))
    throw badField('machineType', machineType, `Machine type with name '${machineType}' does not exist.`);
  for (const [key, value] of Object.entries(labels)) {
    if (!LABEL_KEY.test(key) || !LABEL_VALUE.test(value))
      throw badField('labels', `${key}=${value}`, 'Label keys and values must be lower case.');
  }
  for (const { value } of metadata?.items ?? [])
    if (Buffer.byteLength(value) > MOST_BYTES) throw badField('metadata', '', 'Value is too large.');
  checkImage(state, bootImage(properties), machineType);
  runTimeOf(properties);
}

function checkNames(state: ComputeState, names: readonly string[], at: Place): void {
  const nowMs = state.clock.now();
  const zone = zoneOf(at);
  const taken = new Set(state.instances.flatMap((one) => (one.zone === zone && !isGone(one, nowMs) ? one.name : [])));
  for (const name of names) {
    if (!NAME.test(name)) throw refusal('invalid', `Invalid value for field 'resource.name': '${name}'.`);
    const resource = `projects/${at.project}/${at.place}/instances/${name}`;
    if (taken.has(name)) throw refusal('alreadyExists', `The resource '${resource}' already exists`, 409);
  }
}

/** Makes as many as there is room for; answers why it made no more. */
function makeAll(state: ComputeState, names: readonly string[], properties: Properties, at: Place) {
  const { machineType = '', labels = {}, metadata, scheduling } = properties;
  const items = Object.fromEntries((metadata?.items ?? []).map(({ key, value }) => [key, value]));
  const isPublic = properties.networkInterfaces?.some(({ accessConfigs = [] }) => accessConfigs.length > 0);
  const image = bootImage(properties);
  const own = { labels, metadata: items, runTime: runTimeOf(properties), isPublic, image };
  const wanted = { project: at.project, zone: zoneOf(at), machineType, ...own };
  let error: FakeError | undefined;
  let made = 0;
  for (const name of names) {
    const refused = takeRoom(state, wanted);
    error ??= refused;
    if (refused) continue;
    makeInstance(state, { ...wanted, name, isSpot: scheduling?.provisioningModel === 'SPOT' });
    if (keepsDisk(properties)) state.disks.push({ project: at.project, zone: wanted.zone, name });
    made += 1;
  }
  return { error, made };
}

const PLACED_MS = 1_000;

export function bulkInsert(state: ComputeState, { body, query }: GcpCall, at: Place): Body {
  const nowMs = state.clock.now();
  const { requestId } = query;
  const known = requestId === undefined ? undefined : state.requests.get(requestId);
  if (known) return shownOperation(known, nowMs);
  const properties = (body.instanceProperties ?? {}) as Properties;
  const names = Object.keys((body.perInstanceProperties ?? {}) as object);
  if (names.length === 0 || Number(body.count) !== names.length)
    throw refusal('invalid', "Invalid value for field 'resource.count'.");
  checkProperties(state, properties);
  checkReferences(state.references, properties, at.project);
  checkNames(state, names, at);
  const { error, made } = makeAll(state, names, properties, at);
  const isEnough = made >= Number(body.minCount ?? names.length);
  const wanted = {
    ...at,
    type: 'bulkInsert',
    target: at.place,
    requestId,
    doneInMs: error ? state.behaviour.lateMs : PLACED_MS,
    error: isEnough ? undefined : error,
    bulk: { zone: zoneOf(at), asked: names.length, made: isEnough ? made : 0 },
  };
  return shownOperation(beginOperation(state, wanted), nowMs);
}

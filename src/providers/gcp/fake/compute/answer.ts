// Version 1 of Compute Engine's API, as far as the provider and Google's own clients use it here.
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { GcpCall } from '../read-call.ts';
import { partOf } from '../storage/partial-answer.ts';
import {
  createManaged,
  deleteManaged,
  type FakeGroup,
  isThere,
  shownGroup,
  shownManaged,
  type WantedInstance,
} from './group.ts';
import { imagesIn, newestImage } from './images.ts';
import { bulkInsert } from './insert.ts';
import { type FakeInstance, isGone, shown, urlOf } from './instance.ts';
import { endInstance, startInstance, stopInstance } from './make.ts';
import { beginOperation, type FakeError, shownOperation } from './operations.ts';
import { architectureOfType, MACHINE_TYPES, PROJECT, REGIONS, ZONES } from './seed-data.ts';
import type { ComputeState } from './state.ts';

type Body = Readonly<Record<string, unknown>>;

const PATH = /^\/compute\/v1\/projects\/([^/]+)\/(.+)$/;
const LARGEST_PAGE = 500;
const TOKEN_LIFE_MS = 3_600_000;
const TAKEN_IN_MS = 500;
/** Google's name for groups. */
const GROUPS_KEY = 'instanceGroupManagers';

const notFound = (what: string): Error => refusal('notFound', `The resource '${what}' was not found`, 404);

/** A call with what its path names. */
interface Question {
  readonly call: GcpCall;
  readonly state: ComputeState;
  readonly nowMs: number;
  readonly project: string;
  /** `zones/us-central1-a`, `regions/us-central1`, `global`, `aggregated`. */
  readonly place: string;
  /** What follows the collection: the name of an instance, group, operation. */
  readonly subject: string;
}

function questionOf(call: GcpCall, state: ComputeState): Question {
  const [, project = '', rest = ''] = PATH.exec(call.path) ?? [];
  if (project !== PROJECT && !call.action.includes('.images.')) throw notFound(`projects/${project}`);
  const words = rest.split('/');
  const isGlobal = words[0] === 'global' || words[0] === 'aggregated';
  const place = words.slice(0, isGlobal ? 1 : 2).join('/');
  const [kind = '', at = ''] = place.split('/');
  const isKnown = isGlobal || words.length < 3 || (kind === 'zones' ? ZONES : REGIONS).includes(at);
  if (!isKnown) {
    const field = kind.slice(0, -1);
    throw refusal('invalid', `Invalid value for field '${field}': '${at}'. Unknown ${field}.`);
  }
  return { call, state, nowMs: state.clock.now(), project, place, subject: words[isGlobal ? 2 : 3] ?? '' };
}

/** One page of what follows the token. */
function paged<T>({ call, state, nowMs }: Question, items: readonly T[], keyOf: (item: T) => string) {
  const { query } = call;
  const asked = Number(query.maxResults ?? LARGEST_PAGE);
  if (!(asked >= 1 && asked <= LARGEST_PAGE)) throw refusal('invalid', "Invalid value for field 'maxResults'.");
  const question = {
    of: `${call.path} ${query.filter ?? ''}`,
    token: query.pageToken,
    size: Math.min(asked, state.behaviour.pageSize),
    nowMs,
    emptyPages: 0,
    tokenLifeMs: TOKEN_LIFE_MS,
  };
  const cursor = cursorOf(question);
  if (!cursor) throw refusal('invalid', "Invalid value for field 'pageToken'.");
  const sorted = items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return pageOf(question, cursor, inOrder(sorted, keyOf));
}

function namesPage(question: Question, kind: string, names: Iterable<string>): Body {
  const { project, place } = question;
  const { items, token } = paged(question, [...names], (name) => name);
  const collection = question.call.path.split('/').at(-1) ?? '';
  const base = collection === place ? '' : `${place}/`;
  return {
    kind,
    items: items.map((name) => ({ name, selfLink: urlOf(project, `${base}${collection}/${name}`) })),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

function groupOf({ state, project, place, subject }: Question): FakeGroup {
  const group = state.groups.get(`${project}/${place}/${subject}`);
  if (!group) throw notFound(`projects/${project}/${place}/instanceGroupManagers/${subject}`);
  return group;
}

function aggregatedGroups(question: Question): Body {
  const { state, project, nowMs } = question;
  const all = [...state.groups.values()].filter((one) => one.project === project);
  const { items, token } = paged(question, all, ({ place, name }) => `${place}/${name}`);
  const byPlace = Map.groupBy(items, ({ place }) => place);
  const scopes = [...byPlace].map(([place, groups]) => [
    place,
    { [GROUPS_KEY]: groups.map((one) => shownGroup(one, nowMs)) },
  ]);
  return {
    kind: 'compute#instanceGroupManagerAggregatedList',
    items: Object.fromEntries(scopes),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

function listManaged(question: Question): Body {
  const { nowMs, state } = question;
  const group = groupOf(question);
  const seen = group.managed.filter((one) => isThere(one, nowMs) && nowMs - one.madeAtMs >= state.behaviour.lagMs);
  if (!group.isPaginated) return { managedInstances: seen.map((one) => shownManaged(group, one, nowMs)) };
  const { items, token } = paged(question, seen, ({ name }) => name);
  return {
    managedInstances: items.map((one) => shownManaged(group, one, nowMs)),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

/** Runs a change of a group once for each request id. */
function changed(question: Question, type: string, run: (group: FakeGroup) => void): Body {
  const { call, state, nowMs, project, place } = question;
  const { requestId } = call.query;
  const known = requestId === undefined ? undefined : state.requests.get(requestId);
  if (known) return shownOperation(known, nowMs);
  const group = groupOf(question);
  run(group);
  const target = `${place}/instanceGroupManagers/${group.name}`;
  return shownOperation(
    beginOperation(state, { project, place, type, target, requestId, doneInMs: TAKEN_IN_MS }),
    nowMs,
  );
}

/** `labels.key=value`, `labels.key:value` and `name=value`; several are parted by blanks, AND or parentheses. */
function filterOf(filter = ''): (instance: FakeInstance) => boolean {
  const terms = [...filter.matchAll(/(labels\.)?([\w-]+)\s*(?:=|:|eq)\s*"?([^\s")]*)"?/g)];
  return (instance) =>
    terms.every(([, isLabel, key = '', value]) =>
      isLabel ? instance.labels[key] === value : (instance as unknown as Body)[key] === value,
    );
}

function seenInstances({ state, nowMs, project, call }: Question): FakeInstance[] {
  const { lagMs } = state.behaviour;
  const isWanted = filterOf(call.query.filter);
  return state.instances.filter(
    (one) => one.project === project && !isGone(one, nowMs) && nowMs - one.madeAtMs >= lagMs && isWanted(one),
  );
}

function aggregatedInstances(question: Question): Body {
  const { nowMs } = question;
  const { items, token } = paged(question, seenInstances(question), ({ id }) => id);
  const { silentZones } = question.state;
  const byZone = Map.groupBy(items, ({ zone }) => `zones/${zone}`);
  const scopes = [...byZone].map(([zone, some]) => {
    const isSilent = silentZones.has(zone.replace('zones/', ''));
    const warning = { code: 'UNREACHABLE', message: `'${zone}' is currently unreachable.` };
    return [zone, isSilent ? { warning } : { instances: some.map((one) => shown(one, nowMs)) }];
  });
  return {
    kind: 'compute#instanceAggregatedList',
    items: Object.fromEntries(scopes),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

function zoneInstances(question: Question): Body {
  const here = seenInstances(question).filter(({ zone }) => `zones/${zone}` === question.place);
  const { items, token } = paged(question, here, ({ id }) => id);
  return {
    kind: 'compute#instanceList',
    items: items.map((one) => shown(one, question.nowMs)),
    ...(token !== undefined && { nextPageToken: token }),
  };
}

function instanceOf({ state, project, place, subject, nowMs }: Question): FakeInstance {
  const found = state.instances.find(
    (one) =>
      one.project === project &&
      `zones/${one.zone}` === place &&
      (one.name === subject || one.id === subject) &&
      !isGone(one, nowMs),
  );
  if (!found) throw notFound(`projects/${project}/${place}/instances/${subject}`);
  return found;
}

/** Runs a change of one instance. */
function changedInstance(
  question: Question,
  type: string,
  run: (state: ComputeState, instance: FakeInstance) => FakeError | undefined,
): Body {
  const { state, project, place, nowMs, call } = question;
  const instance = instanceOf(question);
  const error = run(state, instance);
  const target = `${place}/instances/${instance.name}`;
  const { requestId } = call.query;
  const wanted = { project, place, type, target, requestId, error, doneInMs: state.behaviour.endMs };
  return shownOperation(beginOperation(state, wanted), nowMs);
}

function imageOfFamily({ state, project, call }: Question): Body {
  const family = call.path.split('/').at(-1) ?? '';
  const image = newestImage(state, project, family);
  if (!image) throw notFound(`projects/${project}/global/images/family/${family}`);
  return image;
}

function images(question: Question): Body {
  const found = imagesIn(question.state, question.project, question.call.query.filter);
  const { items, token } = paged(question, found, ({ name }) => String(name));
  return { kind: 'compute#imageList', items, ...(token !== undefined && { nextPageToken: token }) };
}

function machineType({ project, place, subject }: Question): Body {
  if (!MACHINE_TYPES.has(subject)) throw notFound(`projects/${project}/${place}/machineTypes/${subject}`);
  const [name, guestCpus] = [subject, MACHINE_TYPES.get(subject)];
  return { kind: 'compute#machineType', name, guestCpus, architecture: architectureOfType(name) };
}

function template({ state, project, subject }: Question): Body {
  const found = state.templates.get(`${project}/${subject}`);
  if (!found) throw notFound(`projects/${project}/global/instanceTemplates/${subject}`);
  const { id, machineType, isSpot, metadata } = found;
  const items = Object.entries(metadata).map(([key, value]) => ({ key, value }));
  const scheduling = { provisioningModel: isSpot ? 'SPOT' : 'STANDARD', preemptible: isSpot };
  const properties = { machineType, metadata: { items }, scheduling };
  return { kind: 'compute#instanceTemplate', id, name: subject, properties };
}

async function operation(question: Question, signal: AbortSignal): Promise<Body> {
  const { state, subject, call } = question;
  const found = state.operations.get(subject);
  if (!found) throw notFound(`operations/${subject}`);
  const leftMs = found.doneAtMs - state.clock.now();
  if (call.action.endsWith('.wait') && leftMs > 0) await state.clock.sleep(leftMs, signal);
  return shownOperation(found, state.clock.now());
}

const ACTIONS: Readonly<Record<string, (question: Question, signal: AbortSignal) => Body | Promise<Body>>> = {
  'zones.list': (question) => namesPage(question, 'compute#zoneList', ZONES),
  'regions.list': (question) => namesPage(question, 'compute#regionList', REGIONS),
  'machineTypes.list': (question) => namesPage(question, 'compute#machineTypeList', MACHINE_TYPES.keys()),
  'instanceTemplates.get': template,
  'operations.get': operation,
  'operations.wait': operation,
  'instanceGroupManagers.get': (question) => shownGroup(groupOf(question), question.nowMs),
  'instanceGroupManagers.list': (question) => {
    const { state, project, place, nowMs } = question;
    const here = [...state.groups.values()].filter((one) => one.project === project && one.place === place);
    const { items, token } = paged(question, here, ({ name }) => name);
    return {
      kind: 'compute#instanceGroupManagerList',
      items: items.map((one) => shownGroup(one, nowMs)),
      ...(token !== undefined && { nextPageToken: token }),
    };
  },
  'instanceGroupManagers.aggregatedList': aggregatedGroups,
  'instanceGroupManagers.listManagedInstances': listManaged,
  'instanceGroupManagers.createInstances': (question) =>
    changed(question, 'compute.instanceGroupManagers.createInstances', (group) =>
      createManaged(question.state, group, (question.call.body.instances ?? []) as WantedInstance[]),
    ),
  'instanceGroupManagers.deleteInstances': (question) =>
    changed(question, 'compute.instanceGroupManagers.deleteInstances', (group) => {
      const { instances = [], skipInstancesOnValidationError = false } = question.call.body;
      deleteManaged(question.state, group, instances as string[], Boolean(skipInstancesOnValidationError));
    }),
  'instances.aggregatedList': aggregatedInstances,
  'instances.list': zoneInstances,
  'instances.get': (question) => shown(instanceOf(question), question.nowMs),
  'instances.delete': (question) => changedInstance(question, 'delete', endInstance),
  'instances.stop': (question) => changedInstance(question, 'stop', stopInstance),
  'instances.start': (question) => changedInstance(question, 'start', startInstance),
  'images.getFromFamily': imageOfFamily,
  'images.list': images,
  'machineTypes.get': machineType,
  'instances.bulkInsert': ({ call, state, project, place }) => bulkInsert(state, call, { project, place }),
};

export async function answerCompute(call: GcpCall, state: ComputeState, signal: AbortSignal): Promise<Response> {
  const act = ACTIONS[call.action.replace('compute.', '')];
  if (!act) throw notFound(call.path);
  const body = await act(questionOf(call, state), signal);
  const { fields } = call.query;
  return Response.json(fields === undefined ? body : partOf(body, fields));
}

// Several calls need the same right: cloud.google.com/compute/docs/access/iam-permissions.
const RIGHTS: Readonly<Record<string, string>> = {
  'compute.instanceGroupManagers.createInstances': 'compute.instanceGroupManagers.update',
  'compute.instanceGroupManagers.deleteInstances': 'compute.instanceGroupManagers.update',
  'compute.instanceGroupManagers.listManagedInstances': 'compute.instanceGroupManagers.get',
  'compute.instances.bulkInsert': 'compute.instances.create',
  'compute.instances.aggregatedList': 'compute.instances.list',
  'compute.instanceGroupManagers.aggregatedList': 'compute.instanceGroupManagers.list',
};

export const rightFor = (action: string): string => RIGHTS[action] ?? action;

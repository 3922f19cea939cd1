// Version 1 of Compute Engine's API, as far as the provider and Google's own clients use it here.
import type { GcpCall } from '../read-call.ts';
import { partOf } from '../storage/partial-answer.ts';
import { filterOf } from './filter.ts';
import { createManaged, deleteManaged, isThere, shownGroup, shownManaged, type WantedInstance } from './group.ts';
import { GROUPS_AND_TEMPLATES } from './groups-and-templates.ts';
import { aggregatedDisks, deleteDisk, deleteImage, getImage, insertImage } from './image-building.ts';
import { imagesIn, newestImage } from './images.ts';
import { bulkInsert } from './insert.ts';
import { type FakeInstance, isGone, shown, urlOf } from './instance.ts';
import { endInstance, startInstance, stopInstance } from './make.ts';
import { beginOperation, type FakeError, shownOperation } from './operations.ts';
import { type Body, changedGroup, groupOf, notFound, paged, type Question, questionOf } from './question.ts';
import { RESIZE_REQUESTS, shownQueued } from './resize-requests.ts';
import { architectureOfType, GPU_TYPES, MACHINE_TYPES, memoryMbOf, REGIONS, ZONES } from './seed-data.ts';
import type { ComputeState } from './state.ts';

/** Google's name for groups. */
const GROUPS_KEY = 'instanceGroupManagers';

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
  const { lagMs } = state.behaviour;
  const seen = group.managed.filter((one) => isThere(one, nowMs) && nowMs - one.madeAtMs >= lagMs);
  const all = [...seen.map((one) => shownManaged(group, one, nowMs)), ...shownQueued(group, nowMs)];
  if (!group.isPaginated) return { managedInstances: all };
  const { items, token } = paged(question, all, ({ name }) => String(name));
  return {
    managedInstances: items,
    ...(token !== undefined && { nextPageToken: token }),
  };
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

function machineType({ project, place, subject: name }: Question): Body {
  const guestCpus = MACHINE_TYPES.get(name);
  if (guestCpus === undefined) throw notFound(`projects/${project}/${place}/machineTypes/${name}`);
  const gpus = GPU_TYPES.get(name);
  const accelerators = gpus && [{ guestAcceleratorType: gpus[0], guestAcceleratorCount: gpus[1] }];
  return {
    ...{ kind: 'compute#machineType', name, guestCpus, memoryMb: memoryMbOf(name) },
    ...{ architecture: architectureOfType(name), ...(accelerators && { accelerators }) },
  };
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
  ...GROUPS_AND_TEMPLATES,
  ...RESIZE_REQUESTS,
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
    changedGroup(question, 'instanceGroupManagers.createInstances', (group) =>
      createManaged(question.state, group, (question.call.body.instances ?? []) as WantedInstance[]),
    ),
  'instanceGroupManagers.deleteInstances': (question) =>
    changedGroup(question, 'instanceGroupManagers.deleteInstances', (group) => {
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
  'images.get': getImage,
  'images.insert': insertImage,
  'images.delete': deleteImage,
  'disks.aggregatedList': aggregatedDisks,
  'disks.delete': deleteDisk,
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
  'compute.instanceGroupManagerResizeRequests.list': 'compute.instanceGroupManagers.get',
  'compute.instanceGroupManagerResizeRequests.get': 'compute.instanceGroupManagers.get',
  'compute.instanceGroupManagerResizeRequests.insert': 'compute.instanceGroupManagers.update',
  'compute.instanceGroupManagerResizeRequests.cancel': 'compute.instanceGroupManagers.update',
  'compute.instanceGroupManagerResizeRequests.delete': 'compute.instanceGroupManagers.update',
  'compute.instanceGroupManagers.insert': 'compute.instanceGroupManagers.create',
  'compute.instanceTemplates.insert': 'compute.instanceTemplates.create',
  'compute.instances.bulkInsert': 'compute.instances.create',
  'compute.images.insert': 'compute.images.create',
  'compute.disks.aggregatedList': 'compute.disks.list',
  'compute.instances.aggregatedList': 'compute.instances.list',
  'compute.instanceGroupManagers.aggregatedList': 'compute.instanceGroupManagers.list',
};

/** Operations have rights of their own by where they are. */
function rightOfOperations(path: string): string {
  const place = /\/(zone|region)s\/[^/]+\/operations\//.exec(path)?.[1] ?? 'global';
  return `compute.${place}Operations.get`;
}

export const rightFor = (action: string, path: string): string =>
  action.startsWith('compute.operations.') ? rightOfOperations(path) : (RIGHTS[action] ?? action);

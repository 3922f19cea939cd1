// Compute and network of Resource Manager, as far as this provider uses them, with their long-running operations.
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import { checkCreation } from './check-creation.ts';
import type { Compute } from './compute.ts';
import { deleteVersion, getVersion, listVersions, putVersion } from './galleries.ts';
import { deleteGroup, deleteManagedImage, listGroups, listManagedImages, putGroup, putImage } from './groups.ts';
import { type FakeVm, instanceViewOf, shown, stateAt } from './machine.ts';
import { deletePart, getPart, listParts, partTypeIn, putPart } from './part-calls.ts';
import { checkGroup, checkReferences } from './references.ts';
import { groupIn, lastOf, notFound, paged, underWay } from './replies.ts';
import { deleteSet, getSet, listInSet, listSets, putSet } from './scale-set-calls.ts';
import { LOCATIONS, SIZES } from './seed-data.ts';

function found(call: AzureCall, { find }: Compute, name = lastOf(call.path)): FakeVm {
  const vm = find(groupIn(call.path), name);
  if (!vm) throw notFound(call);
  return vm;
}

function put(call: AzureCall, compute: Compute): Response {
  const [group, name] = [groupIn(call.path), lastOf(call.path)];
  const existing = compute.find(group, name);
  if (existing && call.headers.get('if-none-match') === '*')
    throw refusal('PreconditionFailed', `The resource '${name}' exists already.`, 412);
  if (existing && stateAt(existing, compute.clock.now()) === 'Deleting')
    throw refusal('OperationNotAllowed', `The VM '${name}' is marked for deletion.`, 409);
  if (existing) return Response.json(shown(existing, compute.clock.now()));
  const wanted = checkCreation(name, call.body);
  checkReferences(compute.references, call.body, {
    id: call.path,
    location: wanted.location,
    nowMs: compute.clock.now(),
  });
  compute.networks.checkReady(
    wanted.parts.flatMap(({ uses = [] }) => uses),
    call.path,
  );
  const set = wanted.set === undefined ? undefined : compute.sets.get(wanted.set.toLowerCase());
  if (wanted.set !== undefined && !set)
    throw refusal('NotFound', 'The entity was not found in this Azure location.', 404);
  if (set && set.properties.orchestrationMode !== 'Flexible')
    throw refusal('InvalidParameter', 'The virtual machine scale set must have the orchestration mode Flexible.', 400);
  const { vm, operation } = compute.make(group, name, wanted);
  return Response.json(shown(vm, compute.clock.now()), { status: 201, headers: underWay(call, compute, operation) });
}

function withView(vm: FakeVm, nowMs: number): object {
  const { properties, ...rest } = shown(vm, nowMs);
  return { ...rest, properties: { ...(properties as object), instanceView: instanceViewOf(vm, nowMs) } };
}

function removed(call: AzureCall, compute: Compute): Response {
  const vm = compute.find(groupIn(call.path), lastOf(call.path));
  // Resource Manager answers the deletion of what is not there without content.
  if (!vm) return new Response(null, { status: 204 });
  const operation = compute.end(vm);
  return new Response(null, { status: 202, headers: underWay(call, compute, operation) });
}

function operation(call: AzureCall, { operations, clock }: Compute): object {
  const one = operations.get(lastOf(call.path));
  if (!one) throw notFound(call);
  const isOver = clock.now() >= one.endsAtMs;
  const status = isOver ? (one.error ? 'Failed' : 'Succeeded') : 'InProgress';
  return { name: one.id, status, ...(isOver && one.error && { error: one.error }) };
}

function skus(call: AzureCall, world: World): object {
  const location = /location eq '([^']+)'/.exec(call.params.$filter ?? '')?.[1];
  const inPlace = SIZES.filter(({ locations }) => location === undefined || locations.includes(location));
  const items = inPlace.map(({ name, locations, architecture = 'x64', generations = 'V1,V2' }) => ({
    resourceType: 'virtualMachines',
    name,
    locations: location === undefined ? locations : [location],
    restrictions: [],
    capabilities: [
      { name: 'CpuArchitectureType', value: architecture },
      { name: 'HyperVGenerations', value: generations },
    ],
  }));
  return paged(call, world, items);
}

type Act = (call: AzureCall, compute: Compute, world: World) => object;

const ACTS: Readonly<Record<string, Act>> = {
  vmPut: put,
  vmGet: (call, compute) => shown(found(call, compute), compute.clock.now()),
  vmView: (call, compute) =>
    instanceViewOf(found(call, compute, decodeURIComponent(call.path.split('/').at(-2) ?? '')), compute.clock.now()),
  vmDelete: removed,
  vmList(call, compute, world) {
    const nowMs = compute.clock.now();
    const isViewed = call.params.$expand === 'instanceView';
    const items = compute
      .listed(groupIn(call.path) || undefined)
      .map((vm) => (isViewed ? withView(vm, nowMs) : shown(vm, nowMs)));
    return paged(call, world, items);
  },
  operation,
  partPut: putPart,
  partGet: getPart,
  partList: listParts,
  partDelete: deletePart,
  setPut: putSet,
  setGet: getSet,
  setDelete: deleteSet,
  setList: listSets,
  setVmList: listInSet,
  versionList: listVersions,
  versionGet: getVersion,
  versionPut: putVersion,
  versionDelete: deleteVersion,
  groupPut: putGroup,
  groupList: listGroups,
  groupDelete: deleteGroup,
  imagePut: putImage,
  imageList: listManagedImages,
  imageDelete: deleteManagedImage,
  autoscaleList: (call, { autoscales }, world) => paged(call, world, autoscales),
  skus: (call, _compute, world) => skus(call, world),
  locations: (call, _compute, world) =>
    paged(
      call,
      world,
      LOCATIONS.map((name) => ({ name })),
    ),
  vmEvict(call, compute) {
    const vm = found(call, compute, decodeURIComponent(call.path.split('/').at(-2) ?? ''));
    if (!vm.isSpot) throw refusal('OperationNotAllowed', 'The VM is no spot machine.', 409);
    compute.evict(vm);
    return new Response(null, { status: 204 });
  },
};

const VERBS: Readonly<Record<string, string>> = {
  partPut: 'write',
  partGet: 'read',
  partList: 'read',
  partDelete: 'delete',
};

/** What the caller must be allowed. */
function rightFor(name: string, path: string): string | undefined {
  const verb = VERBS[name];
  if (verb === undefined) return RIGHTS[name];
  const type = partTypeIn(path);
  return `Microsoft.${type === 'disks' ? 'Compute' : 'Network'}/${type}/${verb}`;
}

const RIGHTS: Readonly<Record<string, string>> = {
  vmPut: 'Microsoft.Compute/virtualMachines/write',
  vmGet: 'Microsoft.Compute/virtualMachines/read',
  vmList: 'Microsoft.Compute/virtualMachines/read',
  vmDelete: 'Microsoft.Compute/virtualMachines/delete',
  setPut: 'Microsoft.Compute/virtualMachineScaleSets/write',
  setGet: 'Microsoft.Compute/virtualMachineScaleSets/read',
  setDelete: 'Microsoft.Compute/virtualMachineScaleSets/delete',
  setVmList: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read',
  versionList: 'Microsoft.Compute/galleries/images/versions/read',
  versionGet: 'Microsoft.Compute/galleries/images/versions/read',
  versionPut: 'Microsoft.Compute/galleries/images/versions/write',
  versionDelete: 'Microsoft.Compute/galleries/images/versions/delete',
  groupPut: 'Microsoft.Resources/subscriptions/resourceGroups/write',
  groupList: 'Microsoft.Resources/subscriptions/resourceGroups/read',
  groupDelete: 'Microsoft.Resources/subscriptions/resourceGroups/delete',
  imagePut: 'Microsoft.Compute/images/write',
  imageList: 'Microsoft.Compute/images/read',
  imageDelete: 'Microsoft.Compute/images/delete',
  autoscaleList: 'Microsoft.Insights/autoscaleSettings/read',
};

/** The answer, or nothing where the call is about something else. */
export function answerCompute(call: AzureCall, world: World): object | undefined {
  const name = call.action.replace('management.', '');
  const act = ACTS[name];
  if (!act) return undefined;
  const right = rightFor(name, call.path);
  if (right !== undefined && world.denied.has(right))
    throw refusal('AuthorizationFailed', `The client does not have authorization to perform action '${right}'.`, 403);
  // What is not there cannot be deleted, wherever it is not.
  if (call.sent.method !== 'DELETE' && name !== 'groupPut') checkGroup(world.compute.references, groupIn(call.path));
  return act(call, world.compute, world);
}

// Resource groups that somebody makes, which take all that is in them along; managed images.
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import type { Compute } from './compute.ts';
import { isPartThere, stateAt } from './machine.ts';
import { groupIn, lastOf, notFound, paged, underWay } from './replies.ts';
import { LOCATIONS } from './seed-data.ts';

type Tags = Readonly<Record<string, string>>;

interface Made {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly tags: Tags;
  goneAtMs: number | undefined;
}

export interface MadeThings {
  readonly groups: Made[];
  /** Managed images, with the resource group that they are in. */
  readonly images: (Made & { readonly group: string })[];
}

const [IMAGE_MS, GONE_MS] = [2_000, 5_000];

export const isMadeThere = ({ goneAtMs }: Pick<Made, 'goneAtMs'>, nowMs: number): boolean =>
  goneAtMs === undefined || nowMs < goneAtMs;

const shown = ({ id, name, location, tags, goneAtMs }: Made): object => ({
  ...{ id, name, location, tags },
  properties: { provisioningState: goneAtMs === undefined ? 'Succeeded' : 'Deleting' },
});

function wantedOf({ body }: AzureCall): { readonly location: string; readonly tags: Tags } {
  const { location = '', tags = {} } = body as { readonly location?: string; readonly tags?: Tags };
  if (!LOCATIONS.includes(location))
    throw refusal('LocationNotAvailableForResourceGroup', `The provided location '${location}' is not available.`);
  return { location, tags };
}

export function putGroup(call: AzureCall, { subscriptionId, references, made, clock }: Compute): Response {
  const name = lastOf(call.path);
  const known = made.groups.find((one) => one.name === name && isMadeThere(one, clock.now()));
  if (known?.goneAtMs !== undefined)
    throw refusal('ResourceGroupBeingDeleted', `The resource group '${name}' is in deprovisioning state.`, 409);
  const id = `/subscriptions/${subscriptionId}/resourceGroups/${name}`;
  const group: Made = { id, name, ...wantedOf(call), goneAtMs: undefined };
  if (known) made.groups.splice(made.groups.indexOf(known), 1);
  made.groups.push(group);
  references.resourceGroups.add(name.toLowerCase());
  return Response.json(shown(group), { status: known ? 200 : 201 });
}

export function listGroups(call: AzureCall, { made, clock }: Compute, world: World): object {
  const tag = /^tagName eq '([^']+)'$/.exec(call.params.$filter ?? '')?.[1];
  const there = made.groups.filter((one) => isMadeThere(one, clock.now()) && (tag === undefined || tag in one.tags));
  return paged(call, world, there.map(shown));
}

export function deleteGroup(call: AzureCall, compute: Compute): Response {
  const { made, vms, clock, references } = compute;
  const name = lastOf(call.path);
  const group = made.groups.find(
    (one) => one.name.toLowerCase() === name.toLowerCase() && isMadeThere(one, clock.now()),
  );
  if (!group) throw refusal('ResourceGroupNotFound', `Resource group '${name}' could not be found.`, 404);
  group.goneAtMs ??= clock.now() + GONE_MS;
  for (const vm of vms)
    if (vm.group.toLowerCase() === name.toLowerCase() && !['gone', 'Deleting'].includes(stateAt(vm, clock.now())))
      compute.end(vm);
  for (const part of compute.parts)
    if (part.group.toLowerCase() === name.toLowerCase() && isPartThere(part, clock.now())) compute.endPart(part);
  references.resourceGroups.delete(name.toLowerCase());
  return new Response(null, { status: 202, headers: underWay(call, compute, compute.begin(GONE_MS)) });
}

export function putImage(call: AzureCall, compute: Compute): Response {
  const { made, clock, vms } = compute;
  const { properties } = call.body as {
    readonly properties?: { readonly sourceVirtualMachine?: { readonly id?: string } };
  };
  const source = properties?.sourceVirtualMachine?.id ?? '';
  const vm = vms.find((one) => one.id.toLowerCase() === source.toLowerCase() && stateAt(one, clock.now()) !== 'gone');
  if (!vm) throw refusal('InvalidParameter', `The entity '${source}' referenced by the image was not found.`);
  const image = { id: call.path, name: lastOf(call.path), group: groupIn(call.path), ...wantedOf(call) };
  made.images.push({ ...image, goneAtMs: undefined });
  const headers = underWay(call, compute, compute.begin(IMAGE_MS));
  return Response.json(shown({ ...image, goneAtMs: undefined }), { status: 201, headers });
}

export function listManagedImages(call: AzureCall, { made, clock }: Compute, world: World): object {
  const group = groupIn(call.path).toLowerCase();
  const there = made.images.filter((one) => one.group.toLowerCase() === group && isMadeThere(one, clock.now()));
  return paged(call, world, there.map(shown));
}

export function deleteManagedImage(call: AzureCall, compute: Compute): Response {
  const { made, clock } = compute;
  const found = made.images.find(
    (one) => one.id.toLowerCase() === call.path.toLowerCase() && isMadeThere(one, clock.now()),
  );
  if (!found) return new Response(null, { status: 204 });
  if (found.goneAtMs !== undefined) throw notFound(call);
  found.goneAtMs = clock.now() + IMAGE_MS;
  return new Response(null, { status: 202, headers: underWay(call, compute, compute.begin(IMAGE_MS)) });
}

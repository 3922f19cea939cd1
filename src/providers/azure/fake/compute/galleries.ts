// The versions of images in compute galleries: put by name, replicated before they can be used.
import type { Clock } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import type { Compute } from './compute.ts';
import { groupIn, lastOf, notFound, paged, underWay } from './replies.ts';
import { LOCATIONS } from './seed-data.ts';

type Tree = Readonly<Record<string, unknown>>;

interface TargetRegion {
  readonly name: string;
  readonly excludeFromLatest?: boolean;
}

/** A version of an image. */
export interface FakeVersion {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly properties: Tree;
  readonly madeAtMs: number;
  readonly readyAtMs: number;
  goneAtMs: number | undefined;
}

/** By the id of the image, in small letters: its versions. */
export type Galleries = Map<string, FakeVersion[]>;

const [READY_MS, GONE_MS] = [4_000, 1_500];
const VERSION = /^(.+\/galleries\/([^/]+)\/images\/([^/]+))\/versions(?:\/([^/]+))?$/i;

const profileOf = ({ properties }: FakeVersion) =>
  (properties.publishingProfile ?? {}) as {
    readonly excludeFromLatest?: boolean;
    readonly targetRegions?: readonly TargetRegion[];
  };

function stateOf({ readyAtMs, goneAtMs }: FakeVersion, nowMs: number): string {
  if (goneAtMs !== undefined) return 'Deleting';
  return nowMs < readyAtMs ? 'Creating' : 'Succeeded';
}

export const isVersionThere = ({ goneAtMs }: FakeVersion, nowMs: number): boolean =>
  goneAtMs === undefined || nowMs < goneAtMs;

function shown(version: FakeVersion, nowMs: number): object {
  const { id, name, location, tags, properties, madeAtMs } = version;
  const publishingProfile = { ...profileOf(version), publishedDate: new Date(madeAtMs).toISOString() };
  return {
    ...{ id, name, type: 'Microsoft.Compute/galleries/images/versions', location, tags },
    properties: { ...properties, publishingProfile, provisioningState: stateOf(version, nowMs) },
  };
}

const number = (name: string): number[] => name.split('.').map(Number);
const byNumber = (a: FakeVersion, b: FakeVersion): number => {
  const [left, right] = [number(a.name), number(b.name)];
  const at = left.findIndex((part, place) => part !== right[place]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
};

/** The version that an image reference means there: the one that it names, or the newest that is not excluded. */
export function versionFor(
  galleries: Galleries,
  { id, location, nowMs }: { readonly id: string; readonly location: string; readonly nowMs: number },
): FakeVersion | undefined {
  const [, image = id, , , named] = VERSION.exec(id) ?? [];
  const isIn = ({ name }: TargetRegion): boolean => name.toLowerCase().replaceAll(' ', '') === location;
  const usable = (galleries.get(image.toLowerCase()) ?? []).filter(
    (one) => stateOf(one, nowMs) === 'Succeeded' && (profileOf(one).targetRegions ?? []).some(isIn),
  );
  if (named !== undefined && named !== 'latest') return usable.find(({ name }) => name === named);
  const offered = usable.filter((one) => {
    const { excludeFromLatest, targetRegions = [] } = profileOf(one);
    return !excludeFromLatest && targetRegions.some((region) => isIn(region) && !region.excludeFromLatest);
  });
  return offered.toSorted(byNumber).at(-1);
}

/** Adds a version without a request; at once usable in these regions. */
export function addVersion(
  galleries: Galleries,
  {
    image,
    name,
    regions = ['westeurope'],
    ...more
  }: { readonly image: string; readonly name: string } & {
    readonly regions?: readonly string[];
    readonly excludeFromLatest?: boolean;
    readonly clock?: Clock;
  },
): FakeVersion {
  const nowMs = more.clock?.now() ?? 0;
  const targetRegions = regions.map((region) => ({ name: region }));
  const version: FakeVersion = {
    ...{ id: `${image}/versions/${name}`, name, location: regions[0] ?? 'westeurope', tags: {}, goneAtMs: undefined },
    properties: { publishingProfile: { targetRegions, excludeFromLatest: more.excludeFromLatest ?? false } },
    ...{ madeAtMs: nowMs, readyAtMs: nowMs },
  };
  const key = image.toLowerCase();
  galleries.set(key, [...(galleries.get(key) ?? []), version]);
  return version;
}

interface Asked {
  readonly versions: FakeVersion[];
  readonly version: FakeVersion | undefined;
  readonly nowMs: number;
}

function asked({ path }: AzureCall, { references: { galleries }, clock }: Compute): Asked {
  const [, image = '', gallery, name, version] = VERSION.exec(path) ?? [];
  const versions = galleries.get(image.toLowerCase());
  const nowMs = clock.now();
  if (!versions)
    throw refusal(
      'ParentResourceNotFound',
      `Can not perform requested operation on nested resource. Parent resource '${gallery}/${name}' not found.`,
      404,
    );
  const found = versions.find((one) => one.name === version && isVersionThere(one, nowMs));
  return { versions, version: found, nowMs };
}

export function listVersions(call: AzureCall, compute: Compute, world: World): object {
  const { versions, nowMs } = asked(call, compute);
  const there = versions.filter((one) => isVersionThere(one, nowMs));
  return paged(
    call,
    world,
    there.map((one) => shown(one, nowMs)),
  );
}

export function getVersion(call: AzureCall, compute: Compute): object {
  const { version, nowMs } = asked(call, compute);
  if (!version) throw notFound(call);
  return shown(version, nowMs);
}

export function putVersion(call: AzureCall, compute: Compute): Response {
  const { versions, version: known, nowMs } = asked(call, compute);
  const name = lastOf(call.path);
  const { location = '', tags = {}, properties = {} } = call.body as Partial<FakeVersion>;
  if (!/^\d+\.\d+\.\d+$/.test(name))
    throw refusal('InvalidParameter', `The resource name '${name}' of the gallery image version is invalid.`);
  if (!LOCATIONS.includes(location))
    throw refusal('LocationNotAvailableForResourceType', `The provided location '${location}' is not available.`);
  const path = `/subscriptions/${compute.subscriptionId}/resourceGroups/${groupIn(call.path)}`;
  const id = `${path}${call.path.slice(call.path.toLowerCase().indexOf('/providers/'))}`;
  const version: FakeVersion = {
    ...{ id, name, location, tags, properties, goneAtMs: undefined },
    ...{ madeAtMs: known?.madeAtMs ?? nowMs, readyAtMs: nowMs + READY_MS },
  };
  if (known) versions.splice(versions.indexOf(known), 1);
  versions.push(version);
  const headers = underWay(call, compute, compute.begin(READY_MS));
  return Response.json(shown(version, nowMs), { status: known ? 200 : 201, headers });
}

export function deleteVersion(call: AzureCall, compute: Compute): Response {
  const { version, nowMs } = asked(call, compute);
  if (!version) return new Response(null, { status: 204 });
  version.goneAtMs ??= nowMs + GONE_MS;
  return new Response(null, { status: 202, headers: underWay(call, compute, compute.begin(GONE_MS)) });
}

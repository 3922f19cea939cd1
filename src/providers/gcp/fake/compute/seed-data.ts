// What the simulated Compute Engine has from the start: the seed's group, and others beside it.

export const PROJECT = 'my-project';
export const ZONE = 'us-central1-a';
export const REGION = 'us-central1';

export const ZONES: readonly string[] = [
  'us-central1-a',
  'us-central1-b',
  'us-central1-c',
  'us-east1-b',
  'europe-west4-a',
  'europe-west4-b',
];

export const regionOf = (zone: string): string => zone.replace(/-[a-z]$/, '');
export const REGIONS: readonly string[] = [...new Set(ZONES.map(regionOf))];

/** By name: how many CPUs of the quota one takes. */
export const MACHINE_TYPES: ReadonlyMap<string, number> = new Map([
  ['e2-small', 2],
  ['e2-medium', 2],
  ['e2-standard-4', 4],
  ['n2-standard-8', 8],
  ['g2-standard-4', 4],
  ['a2-highgpu-1g', 12],
]);

/** By project and family: the newest image. */
export const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['debian-cloud/debian-12', 'debian-12-bookworm-v20261110'],
  ['ubuntu-os-cloud/ubuntu-2404-lts-amd64', 'ubuntu-2404-noble-amd64-v20261105'],
]);

/** Instance templates by name. */
export const TEMPLATES: ReadonlyMap<string, { readonly machineType: string; readonly isSpot: boolean }> = new Map([
  ['velda-workers-v1', { machineType: 'e2-standard-4', isSpot: false }],
  ['velda-spot-v1', { machineType: 'g2-standard-4', isSpot: true }],
]);

/** Groups by place and name, with their templates. */
export const GROUPS: readonly (readonly [place: string, name: string, template: string])[] = [
  [`zones/${ZONE}`, 'velda-workers', 'velda-workers-v1'],
  [`zones/${ZONE}`, 'velda-spot', 'velda-spot-v1'],
  ['zones/us-central1-b', 'velda-workers', 'velda-workers-v1'],
  [`regions/${REGION}`, 'velda-regional', 'velda-workers-v1'],
];

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
  ['n1-standard-1', 1],
  ['e2-small', 2],
  ['e2-medium', 2],
  ['e2-standard-4', 4],
  ['n2-standard-8', 8],
  ['g2-standard-4', 4],
  ['a2-highgpu-1g', 12],
  ['a3-highgpu-8g', 208],
  ['t2a-standard-4', 4],
  ['c4a-standard-4', 4],
  ['a4x-highgpu-4g', 140],
  ['ct5lp-hightpu-4t', 112],
]);

/** By machine type: the GPUs that are part of it. */
export const GPU_TYPES: ReadonlyMap<string, readonly [type: string, count: number]> = new Map([
  ['g2-standard-4', ['nvidia-l4', 1]],
  ['a2-highgpu-1g', ['nvidia-tesla-a100', 1]],
  ['a3-highgpu-8g', ['nvidia-h100-80gb', 8]],
  ['a4x-highgpu-4g', ['nvidia-gb200', 4]],
]);

/** Where it is not four GB for each processor. */
const MEMORY_MB: ReadonlyMap<string, number> = new Map([
  ['a2-highgpu-1g', 87_040],
  ['a3-highgpu-8g', 1_916_928],
]);
export const memoryMbOf = (machineType: string): number =>
  MEMORY_MB.get(machineType) ?? (MACHINE_TYPES.get(machineType) ?? 1) * 4_096;

/** The rest are x86. */
const ARM_TYPES = /^(?:t2a|c4a|n4a|a4x)-/;
export const architectureOfType = (machineType: string): string => (ARM_TYPES.test(machineType) ? 'ARM64' : 'X86_64');
export const architectureOfImage = (image: string): string => (/\barm64\b/.test(image) ? 'ARM64' : 'X86_64');

/** By project and family: the newest image. */
export const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['debian-cloud/debian-12', 'debian-12-bookworm-v20261110'],
  ['debian-cloud/debian-12-arm64', 'debian-12-bookworm-arm64-v20261110'],
  ['ubuntu-os-cloud/ubuntu-2404-lts-amd64', 'ubuntu-2404-noble-amd64-v20261105'],
  ['ubuntu-os-cloud/ubuntu-2404-lts-arm64', 'ubuntu-2404-noble-arm64-v20261105'],
  [`${PROJECT}/velda-agent`, 'velda-agent-v3'],
]);

/** By project and family: older images, the oldest first; a family may have both architectures. */
export const OLDER_IMAGES: ReadonlyMap<string, readonly string[]> = new Map([
  [`${PROJECT}/velda-agent`, ['velda-agent-arm64-v1', 'velda-agent-arm64-v2']],
]);

/** Instance templates by name. */
export const TEMPLATES: ReadonlyMap<string, { readonly machineType: string; readonly isSpot: boolean }> = new Map([
  ['velda-workers-v1', { machineType: 'e2-standard-4', isSpot: false }],
  ['velda-spot-v1', { machineType: 'g2-standard-4', isSpot: true }],
  ['h100-nodes-v1', { machineType: 'a3-highgpu-8g', isSpot: false }],
]);

/** Groups by place and name, with their templates. */
export const GROUPS: readonly (readonly [place: string, name: string, template: string])[] = [
  [`zones/${ZONE}`, 'velda-workers', 'velda-workers-v1'],
  [`zones/${ZONE}`, 'velda-spot', 'velda-spot-v1'],
  ['zones/us-central1-b', 'velda-workers', 'velda-workers-v1'],
  [`regions/${REGION}`, 'velda-regional', 'velda-workers-v1'],
];

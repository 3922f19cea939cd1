// What the fake Nebius offers, by the names that Nebius has for it.

export interface FakePreset {
  readonly name: string;
  readonly vcpus: number;
  readonly memoryGib: number;
  readonly gpus: number;
  readonly dollarsPerHour: number;
}

export interface FakePlatform {
  readonly name: string;
  readonly title: string;
  readonly isPreemptible: boolean;
  readonly presets: readonly FakePreset[];
}

const gpus = (name: string, title: string, dollars: number, sizes: readonly (readonly [number, number, number])[]) => ({
  name,
  title,
  isPreemptible: true,
  presets: sizes.map(([count, vcpus, memoryGib]) => ({
    name: `${count}gpu-${vcpus}vcpu-${memoryGib}gb`,
    vcpus,
    memoryGib,
    gpus: count,
    dollarsPerHour: dollars * count,
  })),
});

export const PLATFORMS: readonly FakePlatform[] = [
  gpus('gpu-h200-sxm', 'NVIDIA H200 NVLink', 3.5, [
    [1, 16, 200],
    [8, 128, 1600],
  ]),
  gpus('gpu-h100-sxm', 'NVIDIA H100 NVLink', 2.95, [
    [1, 16, 200],
    [8, 128, 1600],
  ]),
  gpus('gpu-l40s-a', 'NVIDIA L40S', 1.55, [[1, 8, 32]]),
  {
    name: 'cpu-d3',
    title: 'AMD EPYC Genoa',
    isPreemptible: false,
    presets: [
      { name: '4vcpu-16gb', vcpus: 4, memoryGib: 16, gpus: 0, dollarsPerHour: 0.1 },
      { name: '16vcpu-64gb', vcpus: 16, memoryGib: 64, gpus: 0, dollarsPerHour: 0.4 },
    ],
  },
];

/** The projects: that of the seed's configuration, and that of the guide. */
export const PROJECTS = ['folder-abc123', 'project-abc123'] as const;

/** By id: the project of the subnet. */
export const SUBNETS: Readonly<Record<string, string>> = {
  'subnet-xyz': 'folder-abc123',
  'vpcsubnet-xyz': 'project-abc123',
};

/** What instances may refer to, of every project. */
export const SERVICE_ACCOUNTS: readonly string[] = ['serviceaccount-1'];
export const GPU_CLUSTERS: readonly string[] = ['computegpucluster-1'];
export const FILESYSTEMS: readonly string[] = ['computefilesystem-1'];

/** IAM tokens that are valid beside those that the fake gives for keys. */
export const TOKENS: readonly string[] = ['ne1planted', 'ne1new', 'ne1seed', 'simulated'];

/** Image families that everyone has. */
export const PUBLIC_FAMILIES: readonly string[] = [
  'ubuntu24.04-cuda13.0',
  'ubuntu24.04-cuda12',
  'ubuntu24.04-driverless',
  'ubuntu22.04-cuda12',
  'ubuntu22.04-driverless',
];

export const publicImage = (family: string): string => `computeimage-${family}`;

export const isPublicImage = (id: string): boolean => PUBLIC_FAMILIES.some((family) => publicImage(family) === id);

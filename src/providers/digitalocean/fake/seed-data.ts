// What the fake DigitalOcean sells; slugs and prices as its public price list of 2026 has them, rounded.

export interface FakeSize {
  readonly slug: string;
  readonly vcpus: number;
  readonly memory: number;
  readonly price_hourly: number;
  readonly regions: readonly string[];
  readonly gpus?: { readonly count: number; readonly model: string };
}

const EVERYWHERE = ['nyc3', 'sfo3', 'ams3', 'fra1', 'tor1', 'atl1'];

export const REGIONS: readonly string[] = EVERYWHERE;

export const SIZES: readonly FakeSize[] = [
  { slug: 's-1vcpu-1gb', vcpus: 1, memory: 1_024, price_hourly: 0.009, regions: EVERYWHERE },
  { slug: 's-2vcpu-4gb', vcpus: 2, memory: 4_096, price_hourly: 0.036, regions: EVERYWHERE },
  { slug: 'c-4', vcpus: 4, memory: 8_192, price_hourly: 0.125, regions: EVERYWHERE },
  {
    slug: 'gpu-h100x1-80gb',
    vcpus: 20,
    memory: 245_760,
    price_hourly: 3.39,
    regions: ['nyc3', 'tor1'],
    gpus: { count: 1, model: 'nvidia_h100' },
  },
  {
    slug: 'gpu-mi300x1-192gb-devcloud',
    vcpus: 20,
    memory: 245_760,
    price_hourly: 1.99,
    regions: ['atl1'],
    gpus: { count: 1, model: 'amd_mi300x' },
  },
  {
    slug: 'gpu-mi300x8-1536gb-devcloud',
    vcpus: 160,
    memory: 1_966_080,
    price_hourly: 15.92,
    regions: ['atl1'],
    gpus: { count: 8, model: 'amd_mi300x' },
  },
];

export interface FakeImage {
  readonly id: number;
  /** Null: a snapshot of the account. */
  readonly slug: string | null;
  readonly name: string;
}

export const IMAGES: readonly FakeImage[] = [
  { id: 201, slug: 'amd-rocm71software', name: 'ROCm 7.1' },
  { id: 202, slug: 'gpu-h100x1-base', name: 'NVIDIA AI/ML Ready' },
  { id: 203, slug: 'ubuntu-24-04-x64', name: '24.04 (LTS) x64' },
  { id: 42, slug: null, name: 'own-snapshot' },
];

const publicKey = (id: number): string => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${id}`;

/** The SSH keys of the account; the second is that of the seed's configuration. */
export const SSH_KEYS = [
  { id: 7, fingerprint: '3b:16:e4:bf:8b:00:8b:b8:59:8c:a9:d3:f0:19:fa:45', name: 'one', public_key: publicKey(7) },
  {
    id: 12345678,
    fingerprint: '5c:74:7e:60:28:69:34:ca:dd:74:67:c3:f3:00:7f:fe',
    name: 'two',
    public_key: publicKey(8),
  },
] as const;

/** One VPC in each region. */
export const VPCS = REGIONS.map((region, at) => ({
  id: `5a4981aa-9653-4bd1-bef5-d6bff52042${at + 10}`,
  region,
  name: `default-${region}`,
  ip_range: `10.${100 + at}.0.0/20`,
}));

/** The API tokens that the fake knows at its start. */
export const TOKENS: readonly string[] = ['dop_v1_planted', 'dop_v1_new', 'dop_v1_seed', 'simulated'];

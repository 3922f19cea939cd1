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

export const IMAGES: readonly string[] = ['amd-rocm71software', 'gpu-h100x1-base', 'ubuntu-24-04-x64'];

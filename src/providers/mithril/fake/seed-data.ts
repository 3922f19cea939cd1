// What the fake Mithril offers: each name has an id of its own in each region.

export interface FakeType {
  readonly fid: string;
  readonly name: string;
  readonly num_cpus: number;
  readonly ram_gb: number;
  readonly num_gpus: number;
  readonly gpu_type: string;
  readonly region: string;
  readonly spot_price_cents: number;
  readonly minimum_price_cents: number;
}

export const REGIONS: readonly string[] = ['us-central1-b', 'us-west-2', 'eu-central1-a'];

const NAMES = [
  { name: '8xh100', num_gpus: 8, gpu_type: 'NVIDIA H100', spot_price_cents: 400, minimum_price_cents: 100 },
  { name: '8xa100', num_gpus: 8, gpu_type: 'NVIDIA A100', spot_price_cents: 280, minimum_price_cents: 80 },
  { name: '1xh100', num_gpus: 1, gpu_type: 'NVIDIA H100', spot_price_cents: 90, minimum_price_cents: 20 },
] as const;

export const TYPES: readonly FakeType[] = REGIONS.flatMap((region, at) =>
  NAMES.map((one) => ({
    ...one,
    region,
    fid: `it_${one.name}${at}`,
    num_cpus: 26 * one.num_gpus,
    ram_gb: 230 * one.num_gpus,
  })),
);

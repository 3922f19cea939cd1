// What Mithril's API answers of the account and of what it sells, whole as its own client needs it.
import { MEMBER, PROJECTS, SSH_KEYS, TYPES } from './seed-data.ts';

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

const GPU_MEMORY_GB = 80;

export const types = (): readonly object[] =>
  TYPES.map(({ fid, name, num_cpus, ram_gb, num_gpus, gpu_type }) => ({
    fid,
    name,
    num_cpus,
    cpu_type: 'Intel Xeon Platinum 8480+',
    ram_gb,
    num_gpus,
    gpu_type,
    gpu_memory_gb: GPU_MEMORY_GB,
    gpu_socket: num_gpus === 1 ? 'PCIe' : 'SXM5',
    local_storage_gb: 3_000 * num_gpus,
    ib_count: 0,
    bridge_count: 0,
    network_type: null,
  }));

export const availability = (): readonly object[] =>
  TYPES.map(({ fid, region, spot_price_cents, minimum_price_cents }) => ({
    fid: `auc_${fid}`,
    instance_type: fid,
    region,
    capacity: 100,
    last_instance_price: dollars(spot_price_cents),
    lowest_allocated_price: dollars(minimum_price_cents),
    adjustable_memory: true,
    default_image_version: null,
  }));

/** The prices of an instance of the type and an hour. */
export function prices(fid: string | undefined): object | undefined {
  const type = TYPES.find((one) => one.fid === fid);
  if (!type) return undefined;
  const { spot_price_cents, minimum_price_cents } = type;
  return {
    spot_price_cents,
    reserved_price_cents: null,
    minimum_price_cents,
    lowest_allocated_bid_cents: minimum_price_cents,
    dynamic_win_price_cents: null,
    available_capacity: 100,
    total_capacity: 100,
  };
}

export const member = (): object => MEMBER;

export const teammates = (): readonly object[] => [
  { ...MEMBER, project_ids: PROJECTS.map(({ fid }) => fid), deactivated_at: null },
];

export const projects = (): readonly object[] => PROJECTS;

export const keysOf = (project: string | undefined): readonly object[] =>
  SSH_KEYS.filter((key) => key.project === project);

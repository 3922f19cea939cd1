// What the fake Mithril has: instance types, each name with an id of its own in each region, and one account with a
// project, SSH keys and API tokens.

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

/** Prices are of an instance and an hour. */
export const TYPES: readonly FakeType[] = REGIONS.flatMap((region, at) =>
  NAMES.map((one) => ({
    ...one,
    region,
    fid: `it_${one.name}${at}`,
    num_cpus: 26 * one.num_gpus,
    ram_gb: 230 * one.num_gpus,
  })),
);

const MADE_AT = '2026-01-05T09:00:00Z';

export const PROJECTS = [{ fid: 'proj_abc123', name: 'research', created_at: MADE_AT }] as const;

export const PROJECT = PROJECTS[0].fid;

const publicKey = (name: string): string => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${Buffer.from(name).toString('hex')}`;

export const SSH_KEYS = ['key_xyz', 'key_1'].map((fid) => ({
  fid,
  name: fid.slice('key_'.length),
  project: PROJECT,
  public_key: publicKey(fid),
  created_at: MADE_AT,
  required: false,
}));

export const MEMBER = {
  id: '6f1c5f0e-5a3c-4f0e-9a5f-2f3f0c9a7b11',
  fid: 'user_one',
  email: 'one@example.com',
  user_name: 'one',
  organization_id: 'org_one',
  organization_role: 'member',
} as const;

/** The API tokens that the fake knows at its start. */
export const TOKENS: readonly string[] = ['fkey_planted', 'fkey_new', 'fkey_seed', 'simulated'];

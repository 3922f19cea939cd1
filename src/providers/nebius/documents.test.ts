import { describe, expect, it } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { offerShapes } from '#config/offers.ts';
import { readPool } from '#config/pool-document.ts';
import { describeProblem } from '#config/problem.ts';
import { readServerFile } from '#config/server-file.ts';
import type { Document } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import type { AutoConfig } from './auto/config.ts';
import { openAuto } from './auto/source.ts';
import { type NebiusScene, openScene } from './fake/testing.ts';
import provider from './index.ts';

const SEED = `
provisioners:
  - nebius_auto:
      parent_id: "folder-abc123"
      subnet_id: "subnet-xyz"
      use_public_ip: true
      admin_ssh_key: "ssh-rsa AAAAB3..."
      autoscaler_config:
        max_agents: 5
        min_idle_agents: 0
      pool_details:
        - pool_name: "h200-1gpu"
          platform: "gpu-h200-hxm"
          resource_preset: "1gpu-16vcpu-200gb"
          description: "Single H200 GPU"
        - pool_name: "h200-8gpu"
          platform: "gpu-h200-hxm"
          resource_preset: "8gpu-128vcpu-1600gb"
          description: "8x H200 GPU"
          autoscaler_config:
            max_agents: 2
`;
const kinds = knownKinds([provider]);

function readFile(text: string) {
  const environment = readEnvironment({}, () => ({ text: 'x', isWorldReadable: false }));
  const { value: config, problems = [] } = readServerFile(text, { kinds, environment });
  return {
    config: config?.sources[0]?.config as AutoConfig,
    problems: problems.map((problem) => describeProblem(problem)),
  };
}

const openSeed = (scene: NebiusScene, text = SEED, token = 'ne1seed') =>
  openAuto(readFile(text).config, scene.contextFor(undefined, { NEBIUS_IAM_TOKEN: token }));

async function poolsOf(text = SEED, scene = openScene(), token = 'ne1seed'): Promise<readonly Document[]> {
  const source = await openSeed(scene, text, token);
  return scene.during(source.documents(new Map(), going()));
}

const specOf = ({ text = '' }: Document) => readPool(text, { kinds: provider.backends, trust: 'operator' });

describe('the block of the seed', () => {
  it('gives exactly the pools printed there', async () => {
    const pools = (await poolsOf()).map(specOf);

    expect(readFile(SEED).problems).toEqual([]);
    expect(pools.flatMap((pool) => pool.problems ?? [])).toEqual([]);
    expect(pools.map(({ spec }) => [spec?.name, spec?.description, spec?.offers[0]?.config])).toEqual([
      [
        'h200-1gpu',
        'Single H200 GPU',
        {
          parentId: 'folder-abc123',
          subnetId: 'subnet-xyz',
          usePublicIp: true,
          adminSshKey: 'ssh-rsa AAAAB3...',
          platform: 'gpu-h200-hxm',
          resourcePreset: '1gpu-16vcpu-200gb',
          preemptible: false,
          bootDiskSizeGb: 40,
          imageFamily: 'ubuntu24.04-cuda13.0',
          filesystems: [],
          additionalRuncmds: [],
          maxDiskPoolSize: 0,
        },
      ],
      ['h200-8gpu', '8x H200 GPU', expect.objectContaining({ resourcePreset: '8gpu-128vcpu-1600gb' })],
    ]);
  });

  it('merges the settings of a pool over the shared ones, key by key', async () => {
    const [one, eight] = (await poolsOf()).map((pool) => specOf(pool).spec?.scaling);
    const rest = { minIdleSlots: 0, minAgents: 0, maxIdleSlots: 1, idleDecayMs: 60_000 };

    expect(one).toMatchObject({ maxAgents: 5, ...rest });
    expect(eight).toMatchObject({ maxAgents: 2, ...rest });
  });

  it('says what Nebius does not list, with the nearest name, and makes the pools all the same', async () => {
    const scene = openScene({ pageSize: 1 });
    const preset = 'resource_preset: "8gpu-128vcpu-1600gb"';
    const wrong = SEED.replace(
      `platform: "gpu-h200-hxm"\n          ${preset}`,
      'platform: "gpu-h200-sxm"\n          resource_preset: "8gpu-128vcpu-160gb"',
    );
    const source = await openSeed(scene, wrong);
    const pools = await scene.during(source.documents(new Map(), going()));

    expect(pools).toHaveLength(2);
    expect(source.notes?.()).toEqual([
      'Nebius lists no platform "gpu-h200-hxm" for the project; did you mean "gpu-h200-sxm"?',
      'gpu-h200-sxm of Nebius has no preset "8gpu-128vcpu-160gb"; did you mean "8gpu-128vcpu-1600gb"?',
    ]);
  });

  it('has a rotated token and more parked instances form the same machines', async () => {
    const shapeFor = async (text: string, token: string) => {
      const [first] = await poolsOf(text, openScene(), token);
      const [offer] = specOf(first as Document).spec?.offers ?? [];
      return offer && offerShapes(provider.backends)(offer);
    };
    const other = SEED.replace('use_public_ip: true', 'use_public_ip: true\n      max_disk_pool_size: 4');
    const rotated = other.replace('use_public_ip: true', 'use_public_ip: true\n      iam_token: new');

    expect(await shapeFor(rotated, 'new')).toBe(await shapeFor(SEED, 'old'));
  });

  it('never has the removal of a pool held that was taken out of it', async () => {
    expect((await openSeed(openScene())).isDefinite).toBe(true);
  });

  it('makes its pools also while Nebius is away, and without credentials', async () => {
    const scene = openScene();
    scene.fake.failureRules.add({ times: 1_000, what: { kind: 'lost request' } });
    const bare = await openAuto(readFile(SEED).config, openScene().contextFor());

    expect(await poolsOf(SEED, scene)).toHaveLength(2);
    expect(await bare.documents(new Map(), going())).toHaveLength(2);
    expect(bare.notes?.().join()).toContain('There are no credentials for Nebius.');
  });

  it('refuses a name that stands there twice', () => {
    expect(readFile(SEED.replace('h200-8gpu', 'h200-1gpu')).problems.join()).toMatch(
      /pool_details\[1\]\.pool_name: "h200-1gpu" stands in pool_details twice/,
    );
  });
});

describe('what others write', () => {
  const template = (more: object) =>
    readPool(
      JSON.stringify({
        name: 'a',
        auto_scaler: {
          backend: {
            nebius_launch_template: {
              parent_id: 'project-a',
              subnet_id: 's',
              platform: 'gpu-h200-sxm',
              resource_preset: '1gpu-16vcpu-200gb',
              ...more,
            },
          },
        },
      }),
      { kinds: provider.backends, trust: 'foreign' },
    ).problems?.map(({ path, message }) => `${path}: ${message}`) ?? [];

  it.each([
    [{ endpoint: 'https://evil.example' }, "endpoint may be set only in the operator's own file"],
    [
      { service_account_id: 'serviceaccount-1' },
      "service_account_id may be set only in the operator's own file: it decides which rights the machines have",
    ],
    [{ labels: { 'muster-pool': 'p' } }, 'labels.muster-pool: must not begin with muster-'],
    [{ labels: { 'a\u0007': 'b' } }, 'a label must not contain control characters'],
    [{ boot_disk_size_gb: 10 }, 'nebius_launch_template.boot_disk_size_gb'],
    [{ boot_disk_type: 'floppy' }, 'must be one of unspecified, ssd, ssd_nrd, ssd_io'],
    [{ filesystems: [{ filesystem_id: 'f', mount_path: '/a; rm -rf /' }] }, 'must be an absolute path'],
    [{ platfrom: 'x' }, 'platfrom'],
  ])('%j is refused', (more, problem) => {
    expect(template(more).join('\n')).toContain(problem);
  });

  it('may have every key that the original knows, but for what is the operator’s to give', () => {
    const known = {
      instance_name_prefix: 'velda-x',
      agent_version_override: 'v1',
      tailscale_config: { key: 'k' },
      boot_disk_type: 'NEBIUS_BOOT_DISK_TYPE_SSD_IO',
      boot_disk_size_gb: 100,
      preemptible: true,
      use_public_ip: false,
      labels: { 'velda/pool': 'a', cost: 7 },
      admin_ssh_key: 'ssh-ed25519 AAAA',
      max_disk_pool_size: 3,
      filesystems: [{ filesystem_id: 'computefilesystem-1', mount_path: '/mnt/data' }],
      additional_runcmds: [`echo \${HOME}`],
      image_family: 'mine',
      cluster_id: 'computegpucluster-1',
    };

    expect(template(known)).toEqual([]);
  });
});

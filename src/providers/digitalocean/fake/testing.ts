// How tests get at the fake DigitalOcean.
import type { Backend } from '#core/provider.ts';
import { noLimits } from '#fakes/limits.ts';
import type { SliceMachine } from '#sim/slice/cloud.ts';
import { openSceneOf, type Scene } from '../../../conformance/scene.ts';
import type { SliceSuite } from '../../../conformance/slice-world.ts';
import { DropletConfig } from '../config.ts';
import { openDroplets } from '../droplet/backend.ts';
import { markOf } from '../droplet/marks.ts';
import digitalocean from '../index.ts';
import { type FakeDigitalOcean, type FakeDigitalOceanOptions, openFakeDigitalOcean, publishedLimits } from './cloud.ts';
import { bootable, type FakeDroplet, stateAt } from './droplet.ts';
import type { DropletCall } from './wire.ts';

export const TOKEN = 'dop_v1_planted';
/** The seed's pool for one GPU. */
export const GPU = { region: 'atl1', size: 'gpu-mi300x1-192gb-devcloud', image: 'amd-rocm71software', apiToken: TOKEN };

export type DropletScene = Scene<FakeDigitalOcean>;

export const openScene = (options: Partial<FakeDigitalOceanOptions> = {}): DropletScene =>
  openSceneOf((clock) => openFakeDigitalOcean({ clock, ...options }));

export function openBackend(scene: DropletScene, config: object = GPU, context = scene.contextFor()): Promise<Backend> {
  return scene.during(openDroplets(DropletConfig.parse(config), context));
}

const isLaterPage = ({ page, action }: DropletCall): boolean => action === 'list' && page > 1;
export const LATER_PAGE = { when: isLaterPage, what: { kind: 'error', code: 'server_error', status: 500 } } as const;

function machineOf(droplet: FakeDroplet): SliceMachine {
  return {
    ...bootable(droplet),
    name: droplet.name,
    mark: markOf({ tags: [...droplet.tags] }),
    exists: (nowMs) => ['new', 'active'].includes(stateAt(droplet, nowMs)) && !droplet.isStillborn,
  };
}

/** Droplets that others make in the account, some with a part of our mark. */
function addForeign(fake: FakeDigitalOcean, cluster: string): string[] {
  const most = ['muster-pool:p', 'muster-shape:s'];
  const tagSets = [[], ['velda'], most, [...most, 'muster-cluster:cluster9'], [`muster-cluster:${cluster}`]];
  const sizes = [GPU.size, 's-1vcpu-1gb'];
  return tagSets.flatMap((tags) => sizes.map((size) => String(fake.add({ tags, size }).id)));
}

export const DROPLET_SLICE: SliceSuite = {
  provider: digitalocean,
  backend: {
    kind: 'digitalocean_droplet',
    config: { region: GPU.region, size: GPU.size, image: GPU.image, api_token: TOKEN },
  },
  openCloud({ isLimited, ...options }) {
    const fake = openFakeDigitalOcean({ ...options, limits: isLimited ? publishedLimits : noLimits });
    return {
      fake,
      machines: () => fake.droplets.map(machineOf),
      watch: (changed) => void fake.watch((droplet) => changed(machineOf(droplet))),
      addForeign: async (cluster) => addForeign(fake, cluster),
      refuseLate: fake.refuseLate,
    };
  },
  creation: 'create',
  removals: ['delete', 'deleteByTag'],
  mostCalls: { creation: 100, removal: 20 },
  refusedAfterMs: 60_000,
  mostDocuments: 1_000,
  laterPage: LATER_PAGE,
  denied: {
    kind: 'error',
    code: 'forbidden',
    message: 'You are not authorized to perform this operation',
    status: 403,
  },
  named: 'api-amd.digitalocean.com',
  forbidden: [
    ['a variable', { image: `\${DIGITALOCEAN_API_TOKEN}` }, 'image'],
    ['an address of its own', { api_endpoint: 'https://evil.example' }, 'api_endpoint'],
  ],
};

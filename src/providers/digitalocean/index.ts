// Loaded by every server: whatever only a pool or a source on DigitalOcean needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { AutoConfig, placeOf } from './auto/config.ts';
import { DropletConfig } from './config.ts';

export default {
  id: 'digitalocean',
  title: 'DigitalOcean',
  variables: ['DIGITALOCEAN_API_TOKEN', 'DIGITALOCEAN_API_URL'],
  backends: {
    digitalocean_droplet: kind({
      summary: 'Droplets of DigitalOcean, with and without GPUs.',
      config: DropletConfig,
      example: {
        region: 'atl1',
        size: 'gpu-mi300x1-192gb-devcloud',
        image: 'amd-rocm71software',
        ssh_key_ids: [12345678],
        tags: ['team:ml'],
      },
      trust: 'any source',
      hasPrices: true,
      boots: 'script',
      open: async (...given) => (await import('./droplet/backend.ts')).openDroplets(...given),
    }),
  },
  sources: {
    digitalocean_auto: kind({
      summary: 'Defines a pool of droplets for each entry of `pool_details`.',
      config: AutoConfig,
      example: {
        region: 'atl1',
        autoscaler_config: { max_agents: 10, min_idle_agents: 1, max_idle_agents: 2 },
        pool_details: [
          { pool_name: 'mi300x-1gpu', size: 'gpu-mi300x1-192gb-devcloud', image: 'amd-rocm71software' },
          {
            pool_name: 'mi300x-8gpu',
            size: 'gpu-mi300x8-1536gb-devcloud',
            image: 'amd-rocm71software',
            autoscaler_config: { max_agents: 2 },
          },
        ],
      },
      trust: 'any source',
      place: placeOf,
      isOperators: true,
      open: async (...given) => (await import('./auto/source.ts')).openAuto(...given),
    }),
  },
} satisfies Provider;

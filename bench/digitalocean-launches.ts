import provider from '../src/providers/digitalocean/index.ts';
import { launchesOn } from './parts/launches.ts';

export const bench = launchesOn({
  cloud: 'digitalocean',
  order: 85,
  provider,
  backends: [
    {
      kind: 'digitalocean_droplet',
      config: { region: 'atl1', size: 'gpu-mi300x1-192gb-devcloud', image: 'amd-rocm71software' },
      creation: 'create',
    },
  ],
  // As DigitalOcean publishes it for a token, of any request.
  limit: { burst: 250, perSecond: 5_000 / 3_600 },
  variables: (address) => ({ DIGITALOCEAN_API_URL: address, DIGITALOCEAN_API_TOKEN: 'simulated' }),
});

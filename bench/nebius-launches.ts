import provider from '../src/providers/nebius/index.ts';
import { launchesOn } from './parts/launches.ts';

export const bench = launchesOn({
  cloud: 'nebius',
  order: 84,
  provider,
  backends: [
    {
      kind: 'nebius_launch_template',
      config: {
        parent_id: 'project-1',
        subnet_id: 'subnet-1',
        platform: 'gpu-h200-sxm',
        resource_preset: '1gpu-16vcpu-200gb',
      },
      creation: 'create',
    },
  ],
  // Nebius publishes no limits: these are what the provider keeps to.
  limit: { burst: 100, perSecond: 40 },
  variables: (address) => ({ NEBIUS_ENDPOINT: address, NEBIUS_IAM_TOKEN: 'simulated' }),
});

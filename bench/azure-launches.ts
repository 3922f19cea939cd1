import provider from '../src/providers/azure/index.ts';
import { launchesOn } from './parts/launches.ts';

export const bench = launchesOn({
  cloud: 'azure',
  order: 82,
  provider,
  backends: [
    {
      kind: 'azure_vm',
      config: {
        subscription_id: '00000000-0000-0000-0000-000000000001',
        resource_group: 'velda',
        location: 'westeurope',
        vm_size: 'Standard_D2s_v5',
        subnet_id: 'velda-network/agents',
      },
      creation: 'management.vmPut',
    },
  ],
  // As Resource Manager publishes it for an identity in a subscription.
  limit: { burst: 200, perSecond: 10 },
  lagMs: 3_000,
  variables: (address) => ({ AZURE_RESOURCE_MANAGER_URL: address }),
});

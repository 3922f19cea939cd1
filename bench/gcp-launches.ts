import provider from '../src/providers/gcp/index.ts';
import { launchesOn } from './parts/launches.ts';

const PLACE = { project: 'my-project', zone: 'us-central1-a' };

export const bench = launchesOn({
  cloud: 'gcp',
  order: 81,
  provider,
  backends: [
    {
      variant: 'group',
      kind: 'gce_instance_group',
      config: { ...PLACE, instance_group: 'velda-workers' },
      creation: 'compute.instanceGroupManagers.createInstances',
    },
    {
      variant: 'instances',
      kind: 'gce_instance',
      config: { ...PLACE, machine_type: 'e2-standard-4' },
      creation: 'compute.instances.bulkInsert',
    },
  ],
  // As Compute Engine publishes it for a project and a group of methods.
  limit: { burst: 1_500, perSecond: 25 },
  variables: (address) => ({
    CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${address}/compute/v1/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
  }),
});

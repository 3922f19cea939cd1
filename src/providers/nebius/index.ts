// Loaded by every server: whatever only a pool or a source on Nebius needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { AutoConfig, placeOf } from './auto/config.ts';
import { InstanceConfig } from './config.ts';

export default {
  id: 'nebius',
  title: 'Nebius',
  variables: ['NEBIUS_IAM_TOKEN', 'NEBIUS_SERVICE_ACCOUNT_KEY', 'NEBIUS_ENDPOINT'],
  backends: {
    nebius_launch_template: kind({
      summary: 'Instances of Nebius AI Cloud, with and without GPUs.',
      config: InstanceConfig,
      example: {
        parent_id: 'project-abc123',
        subnet_id: 'vpcsubnet-xyz',
        platform: 'gpu-h200-sxm',
        resource_preset: '1gpu-16vcpu-200gb',
        use_public_ip: true,
        max_disk_pool_size: 2,
        labels: { team: 'ml' },
      },
      trust: 'any source',
      batch: 20,
      hasPrices: true,
      boots: 'script',
      open: async (...given) => (await import('./instance/backend.ts')).openInstances(...given),
    }),
  },
  sources: {
    nebius_auto: kind({
      summary: 'Defines a pool of instances for each entry of `pool_details`.',
      config: AutoConfig,
      example: {
        parent_id: 'project-abc123',
        subnet_id: 'vpcsubnet-xyz',
        use_public_ip: true,
        autoscaler_config: { max_agents: 5 },
        pool_details: [
          { pool_name: 'h200-1gpu', platform: 'gpu-h200-sxm', resource_preset: '1gpu-16vcpu-200gb' },
          {
            pool_name: 'h200-8gpu',
            platform: 'gpu-h200-sxm',
            resource_preset: '8gpu-128vcpu-1600gb',
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

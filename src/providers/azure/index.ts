// Loaded by every server: whatever only a pool, source or cluster on Azure needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { AksConfig } from './aks/config.ts';
import { AppConfigurationConfig, placeOf } from './app-configuration/config.ts';

export default {
  id: 'azure',
  title: 'Microsoft Azure',
  // Those that Azure's own libraries read.
  variables: [
    'AZURE_TENANT_ID',
    'AZURE_CLIENT_ID',
    'AZURE_CLIENT_SECRET',
    'AZURE_FEDERATED_TOKEN_FILE',
    'AZURE_AUTHORITY_HOST',
  ],
  sources: {
    azure: kind({
      summary: 'Each key below a prefix of an App Configuration store is a pool document.',
      config: AppConfigurationConfig,
      example: { endpoint: 'https://velda-pools.azconfig.io', config_prefix: 'pools/', update_interval: '60s' },
      trust: 'any source',
      place: placeOf,
      open: async (...given) => (await import('./app-configuration/source.ts')).openAppConfiguration(...given),
    }),
  },
  clusters: {
    aks: kind({
      summary:
        'A cluster of Azure Kubernetes Service, by a client secret, workload identity, managed identity or `az`.',
      config: AksConfig,
      example: {
        subscription_id: '00000000-0000-0000-0000-000000000001',
        resource_group: 'velda',
        cluster_name: 'velda-cluster',
      },
      trust: 'operator only',
      open: async (...given) => (await import('./aks/cluster.ts')).openAks(...given),
    }),
  },
} satisfies Provider;

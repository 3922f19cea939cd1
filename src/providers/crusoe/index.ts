// Loaded by every server: whatever only an account of Crusoe needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { CrusoeConfig } from './config.ts';

export default {
  id: 'crusoe',
  title: 'Crusoe',
  variables: [
    'CRUSOE_PROJECT_ID',
    'CRUSOE_CLUSTER_ID',
    'CRUSOE_ACCESS_KEY',
    'CRUSOE_SECRET_KEY',
    'CRUSOE_API_ENDPOINT',
  ],
  nodeGroups: {
    crusoe: kind({
      summary: 'Node pools of Crusoe Managed Kubernetes.',
      config: CrusoeConfig,
      example: {
        project_id: '09ae8411-0fbb-411c-898c-2b8f19622ae1',
        access_key: 'an-access-key',
        secret_key: 'a-secret-key',
        pool_templates: { h100: { cluster_id: '707749bd-ecad-4de8-aa00-1ae2fdb99e19', type: 'h100-80gb-sxm-ib.8x' } },
      },
      trust: 'operator only',
      open: async (...given) => (await import('./nodes/pools.ts')).openCrusoeNodes(...given),
    }),
  },
} satisfies Provider;

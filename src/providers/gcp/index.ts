// Loaded by every server: whatever only a cluster on Google Cloud needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { GkeConfig } from './gke/config.ts';

export default {
  id: 'gcp',
  title: 'Google Cloud',
  // Where application default credentials are looked for.
  variables: ['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'HOME', 'GCE_METADATA_HOST'],
  clusters: {
    gke: kind({
      summary: 'A cluster of Google Kubernetes Engine, by application default credentials.',
      config: GkeConfig,
      example: { project: 'my-gcp-project', location: 'us-central1', cluster_name: 'velda-cluster' },
      trust: 'operator only',
      open: async (...given) => (await import('./gke/cluster.ts')).openGke(...given),
    }),
  },
} satisfies Provider;

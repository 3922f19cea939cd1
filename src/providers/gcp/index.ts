// Loaded by every server: whatever only a source or a cluster on Google Cloud needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { GkeConfig } from './gke/config.ts';
import { GcsConfig, placeOf } from './storage/config.ts';

export default {
  id: 'gcp',
  title: 'Google Cloud',
  variables: [
    // Where application default credentials are looked for.
    'GOOGLE_APPLICATION_CREDENTIALS',
    'CLOUDSDK_CONFIG',
    'HOME',
    'GCE_METADATA_HOST',
    'STORAGE_EMULATOR_HOST',
  ],
  sources: {
    gcs: kind({
      summary: 'Each object below a prefix of a Cloud Storage bucket is a pool document.',
      config: GcsConfig,
      example: { bucket: 'velda-pool-configs', config_prefix: 'pools/', update_interval: '120s' },
      trust: 'any source',
      place: placeOf,
      open: async (...given) => (await import('./storage/source.ts')).openGcs(...given),
    }),
  },
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

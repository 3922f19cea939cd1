// Loaded by every server: whatever only a pool, a source or a cluster on Google Cloud needs is loaded when one is opened.
import { kind, type Provider } from '#core/provider.ts';
import { packerNeeds } from '#packer/needs.ts';
import { CloudRunConfig } from './cloud-run/config.ts';
import { GkeConfig } from './gke/config.ts';
import { GkeNodesConfig } from './gke-nodes/config.ts';
import { GceImageConfig } from './image/config.ts';
import { InstanceConfig } from './instance/config.ts';
import { GroupConfig } from './instance-group/config.ts';
import { GceNodesConfig } from './nodes/config.ts';
import { GcsConfig, placeOf } from './storage/config.ts';

// Google takes 1,000 names in one call; in a group each brings its own start-up script of some kilobytes.
const BATCH = 100;

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
    // Where gcloud is sent to an emulator of Compute Engine, of Cloud Run.
    'CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE',
    'CLOUDSDK_API_ENDPOINT_OVERRIDES_RUN',
    'CLOUDSDK_AUTH_DISABLE_CREDENTIALS',
    // Where images are built.
    'GOOGLE_CLOUD_PROJECT',
  ],
  backends: {
    gce_instance: kind({
      summary: 'Instances of Compute Engine, made one by one without a group.',
      config: InstanceConfig,
      example: {
        project: 'my-project',
        zone: 'us-central1-a',
        machine_type: 'e2-standard-4',
        image: 'debian-cloud/debian-12',
        labels: { team: 'ml' },
      },
      trust: 'any source',
      batch: BATCH,
      boots: 'script',
      open: async (...given) => (await import('./instance/backend.ts')).openInstances(...given),
    }),
    gce_instance_group: kind({
      summary: 'Instances of a managed instance group of Compute Engine, zonal or regional.',
      config: GroupConfig,
      example: { project: 'my-project', zone: 'us-central1-a', instance_group: 'velda-workers' },
      trust: 'any source',
      batch: BATCH,
      boots: 'script',
      open: async (...given) => (await import('./instance-group/backend.ts')).openInstanceGroup(...given),
    }),
    gcp_cloud_run: kind({
      summary: 'Containers of Cloud Run, each a service with one instance that always runs.',
      config: CloudRunConfig,
      example: {
        project: 'my-project',
        region: 'us-central1',
        image: 'us-central1-docker.pkg.dev/my-project/muster/agent:1.2.0',
        cpu: 2,
        memory: '4Gi',
      },
      trust: 'any source',
      open: async (...given) => (await import('./cloud-run/backend.ts')).openServices(...given),
    }),
  },
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
  nodeGroups: {
    gce: kind({
      summary: 'Managed instance groups of a project, behind the nodes of a cluster.',
      config: GceNodesConfig,
      example: {
        project: 'my-project',
        group_templates: { h100: { zone: 'us-central1-a', instance_template: 'h100-v1' } },
      },
      trust: 'operator only',
      open: async (...given) => (await import('./nodes/groups.ts')).openGceNodes(...given),
    }),
    gke: kind({
      summary: 'Instance groups behind the node pools of a cluster of Google Kubernetes Engine.',
      config: GkeNodesConfig,
      example: {
        project: 'my-gcp-project',
        location: 'us-central1',
        cluster_name: 'velda-cluster',
        pool_templates: { h100: { zone: 'us-central1-a', machine_type: 'a3-highgpu-8g', flex_start: true } },
      },
      trust: 'operator only',
      open: async (...given) => (await import('./gke-nodes/groups.ts')).openGkeNodes(...given),
    }),
  },
  images: {
    gcp_vm: kind({
      summary: 'Images of Compute Engine in the family of their name, made by Packer on an instance.',
      config: GceImageConfig,
      example: { project: 'my-project', zone: 'us-central1-a' },
      trust: 'operator only',
      needs: ({ programs }) => packerNeeds(programs),
      open: async (...given) => (await import('./image/builder.ts')).openImages(...given),
    }),
  },
} satisfies Provider;

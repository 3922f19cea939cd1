import { z } from 'zod';
import { imageOf } from './local.ts';
import { needed, type Platform, type PlatformContext, present, sharedFields } from './platform.ts';
import { registryImage } from './registry-image.ts';

const options = z.strictObject({
  ...sharedFields(300),
  namespace: z.string().min(1).default('default').describe('Namespace.'),
  clusterName: z.string().min(1).optional().describe('Name of the cluster; needed beyond `kubernetes`.'),
  region: z.string().min(1).optional().describe('Region of the cluster; needed by `aws_eks` and `gcp_gke`.'),
  resourceGroup: z.string().min(1).optional().describe('Resource group of the cluster; needed by `azure_aks`.'),
  projectId: z.string().min(1).optional().describe('Project of the cluster; needed by `gcp_gke`.'),
  version: z.string().min(1).optional().describe('Version of the image; absent: that of this Muster.'),
  image: z.string().min(1).optional().describe('Image, in place of the one that Muster builds.'),
  serviceType: z
    .enum(['ClusterIP', 'LoadBalancer'])
    .optional()
    .describe('Type of the Service; absent: `ClusterIP`, which is reached within the cluster.'),
});

type KubernetesOptions = z.output<typeof options>;
type Cluster = (given: KubernetesOptions, need: Need) => Readonly<Record<string, unknown>>;
type Need = (option: string, value: string | undefined, variable?: string) => string;

/** A cluster on this machine may have the images of its engine; that of a cloud pulls from a registry. */
const LOCAL = 'kubernetes';

function on(platform: string, summary: string, cluster: Cluster): Platform<KubernetesOptions> {
  const isOurs = platform === LOCAL;
  return {
    summary,
    needsAdmin: true,
    options,
    backend(given, context: PlatformContext) {
      const need: Need = (option, value, variable) =>
        needed(option, value, { platform, context, ...(variable && { variable }) });
      const { namespace, serviceType } = given;
      const place = cluster(given, need);
      const image = isOurs ? imageOf(given, context.agentImage) : registryImage(platform, given, context);
      return { kubernetes_deployment: present({ namespace, image, service_type: serviceType, ...place }) };
    },
  };
}

export const kubernetes = on(LOCAL, 'a Deployment in the cluster of kubectl, or the one we run in', () => ({}));

export const awsEks = on('aws_eks', 'a Deployment in a cluster of EKS', ({ clusterName, region }, need) => ({
  eks: { cluster_name: need('cluster_name', clusterName), region: need('region', region, 'AWS_REGION') },
}));

export const azureAks = on('azure_aks', 'a Deployment in a cluster of AKS', ({ clusterName, resourceGroup }, need) => ({
  aks: {
    cluster_name: need('cluster_name', clusterName),
    resource_group: need('resource_group', resourceGroup),
    subscription_id: need('subscription_id', undefined, 'AZURE_SUBSCRIPTION_ID'),
  },
}));

export const gcpGke = on('gcp_gke', 'a Deployment in a cluster of GKE', ({ clusterName, region, projectId }, need) => ({
  gke: {
    cluster_name: need('cluster_name', clusterName),
    location: need('region', region),
    project: need('project_id', projectId, 'GOOGLE_CLOUD_PROJECT'),
  },
}));

// The class of each platform: its options, with their defaults, are its properties.
import {
  type AWSOptions,
  type AzureOptions,
  type DockerOptions,
  DockerPlatform,
  type GCPOptions,
  type KubernetesOptions,
  KubernetesPlatform,
} from './options.ts';
import { PlatformProvisioner } from './platform-class.ts';

/** An EC2 instance. */
export class AWSProvisioner extends PlatformProvisioner {
  declare readonly region: string;
  declare readonly instanceType: string;
  declare readonly imageId: string | undefined;
  declare readonly securityGroups: readonly string[] | undefined;

  constructor(options: AWSOptions = {}) {
    const keys = ['region', 'instanceType', 'imageId', 'securityGroups', 'agentDownloads'];
    super({ platforms: { aws: 'aws' }, keys, timeoutSeconds: 300, image: 'imageId' }, options);
  }
}

/** A virtual machine of Azure. */
export class AzureProvisioner extends PlatformProvisioner {
  declare readonly resourceGroup: string;
  declare readonly location: string;
  declare readonly vmSize: string;
  declare readonly subscriptionId: string | undefined;
  declare readonly imageId: string | undefined;

  constructor(options: AzureOptions = {}) {
    const keys = ['resourceGroup', 'location', 'vmSize', 'subscriptionId', 'imageId', 'agentDownloads'];
    super({ platforms: { azure: 'azure' }, keys, timeoutSeconds: 600, image: 'imageId' }, options);
  }
}

/** An instance of Compute Engine. */
export class GCPProvisioner extends PlatformProvisioner {
  declare readonly project: string | undefined;
  declare readonly zone: string;
  declare readonly machineType: string;
  declare readonly sourceImage: string | undefined;

  constructor(options: GCPOptions = {}) {
    const keys = ['project', 'zone', 'machineType', 'sourceImage', 'agentDownloads'];
    super({ platforms: { gcp: 'gcp' }, keys, timeoutSeconds: 600, image: 'sourceImage' }, options);
  }
}

const DOCKER_KEYS = [
  'containerName',
  'version',
  'image',
  'region',
  'resourceGroup',
  'projectId',
  'subnets',
  'securityGroups',
  'subscriptionId',
];
// As the platforms of `computers` are named.
const DOCKER_PLATFORMS = {
  [DockerPlatform.LOCAL]: 'local',
  [DockerPlatform.AWS_ECS]: 'aws_ecs',
  [DockerPlatform.AZURE_CONTAINER_INSTANCES]: 'azure_container_instances',
  [DockerPlatform.GCP_CLOUD_RUN]: 'gcp_cloud_run',
};

/** A container, on an engine or on a container service. */
export class DockerProvisioner extends PlatformProvisioner {
  readonly platform: DockerPlatform;
  declare readonly containerName: string;
  declare readonly version: string | undefined;
  declare readonly image: string | undefined;
  declare readonly region: string | undefined;
  declare readonly resourceGroup: string | undefined;
  declare readonly projectId: string | undefined;
  declare readonly subnets: readonly string[] | undefined;
  declare readonly securityGroups: readonly string[] | undefined;
  declare readonly subscriptionId: string | undefined;

  constructor(options: DockerOptions = {}) {
    const isCloudRun = options.platform === DockerPlatform.GCP_CLOUD_RUN;
    const defaults = isCloudRun ? { allowUnauthenticated: true } : {};
    super({ platforms: DOCKER_PLATFORMS, keys: DOCKER_KEYS, timeoutSeconds: 300, defaults }, options);
    this.platform = options.platform ?? DockerPlatform.LOCAL;
  }
}

const KUBERNETES_KEYS = [
  'namespace',
  'clusterName',
  'region',
  'resourceGroup',
  'projectId',
  'version',
  'image',
  'serviceType',
];
const KUBERNETES_PLATFORMS = {
  [KubernetesPlatform.LOCAL]: 'kubernetes',
  [KubernetesPlatform.AWS_EKS]: 'aws_eks',
  [KubernetesPlatform.AZURE_AKS]: 'azure_aks',
  [KubernetesPlatform.GCP_GKE]: 'gcp_gke',
};

/** A Deployment with its Service. */
export class KubernetesProvisioner extends PlatformProvisioner {
  readonly platform: KubernetesPlatform;
  declare readonly namespace: string;
  declare readonly clusterName: string | undefined;
  declare readonly region: string | undefined;
  declare readonly resourceGroup: string | undefined;
  declare readonly projectId: string | undefined;
  declare readonly version: string | undefined;
  declare readonly image: string | undefined;
  declare readonly serviceType: 'ClusterIP' | 'LoadBalancer';

  constructor(options: KubernetesOptions = {}) {
    // Setup waits for an answer, and most programs that set computers up run outside of the cluster.
    const defaults = { serviceType: 'LoadBalancer' };
    super({ platforms: KUBERNETES_PLATFORMS, keys: KUBERNETES_KEYS, timeoutSeconds: 300, defaults }, options);
    this.platform = options.platform ?? KubernetesPlatform.LOCAL;
  }
}

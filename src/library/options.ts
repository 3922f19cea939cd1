// What each class takes, in the words of its users. The platforms of `computers` say what is valid.
import type { ComputerLog } from './base.ts';

/** Where a DockerProvisioner runs its container. */
export const DockerPlatform = {
  LOCAL: 'local',
  AWS_ECS: 'aws_ecs',
  AZURE_CONTAINER_INSTANCES: 'azure_container_instances',
  GCP_CLOUD_RUN: 'gcp_cloud_run',
} as const;
export type DockerPlatform = (typeof DockerPlatform)[keyof typeof DockerPlatform];

/** Where the cluster of a KubernetesProvisioner is. */
export const KubernetesPlatform = {
  LOCAL: 'local',
  AWS_EKS: 'aws_eks',
  AZURE_AKS: 'azure_aks',
  GCP_GKE: 'gcp_gke',
} as const;
export type KubernetesPlatform = (typeof KubernetesPlatform)[keyof typeof KubernetesPlatform];

/** An archive of the agent that a machine without one fetches when it boots. */
export interface AgentDownload {
  /** As `uname -m` prints it there: `x86_64`, `aarch64`. */
  readonly machine: string;
  readonly url: string;
  readonly sha256: string;
}

/** The options of every platform. */
export interface ComputerOptions {
  /** The port that the computer serves `GET /health` on; 8000 unless given. */
  readonly port?: number | undefined;
  /** How many launches the platform may refuse; 3 unless given. */
  readonly maxRetries?: number | undefined;
  /** Seconds that `setup` and `teardown` may take. */
  readonly timeout?: number | undefined;
  /** The name under which the next run finds it; absent: `containerName`, or the name of the platform. */
  readonly name?: string | undefined;
  /** The folder of what must survive this process; absent: `~/.muster/computers`. */
  readonly stateDir?: string | undefined;
  /** How long the computer lasts, like `8h`, also without this process; 24 hours unless given, `off`: for ever. */
  readonly ttl?: string | undefined;
  /** Where log lines go: `console` is one. Absent: nowhere. */
  readonly log?: ComputerLog | undefined;
}

/** Options of machines that boot an image. */
export interface MachineOptions extends ComputerOptions {
  /** Where the machine fetches the agent, if its image has none. */
  readonly agentDownloads?: readonly AgentDownload[] | undefined;
}

export interface AWSOptions extends MachineOptions {
  /** `us-west-2` unless given. */
  readonly region?: string | undefined;
  /** `t2.micro` unless given. */
  readonly instanceType?: string | undefined;
  readonly imageId?: string | undefined;
  /** Absent: the default one of the VPC. */
  readonly securityGroups?: readonly string[] | undefined;
}

export interface AzureOptions extends MachineOptions {
  /** `commandlab-rg` unless given. */
  readonly resourceGroup?: string | undefined;
  /** `eastus` unless given. */
  readonly location?: string | undefined;
  /** `Standard_DS1_v2` unless given. */
  readonly vmSize?: string | undefined;
  /** Absent: `AZURE_SUBSCRIPTION_ID`. */
  readonly subscriptionId?: string | undefined;
  readonly imageId?: string | undefined;
}

export interface GCPOptions extends MachineOptions {
  /** Absent: `GOOGLE_CLOUD_PROJECT`. */
  readonly project?: string | undefined;
  /** `us-central1-a` unless given. */
  readonly zone?: string | undefined;
  /** `n1-standard-1` unless given. */
  readonly machineType?: string | undefined;
  readonly sourceImage?: string | undefined;
}

export interface DockerOptions extends ComputerOptions {
  /** `commandlab-daemon` unless given. */
  readonly containerName?: string | undefined;
  /** `DockerPlatform.LOCAL` unless given. */
  readonly platform?: DockerPlatform | undefined;
  /** Version of the image; absent: that of this package. */
  readonly version?: string | undefined;
  /** Image, in place of the one that Muster builds; needed beyond LOCAL, in a registry. */
  readonly image?: string | undefined;
  /** Needed by AWS_ECS; absent: `AWS_REGION`. Of GCP_CLOUD_RUN `us-central1` unless given, of AZURE_CONTAINER_INSTANCES `eastus`. */
  readonly region?: string | undefined;
  /** Needed by AZURE_CONTAINER_INSTANCES. */
  readonly resourceGroup?: string | undefined;
  /** Needed by GCP_CLOUD_RUN; absent: `GOOGLE_CLOUD_PROJECT`. */
  readonly projectId?: string | undefined;
  /** Needed by AWS_ECS. */
  readonly subnets?: readonly string[] | undefined;
  /** Used by AWS_ECS; absent: the default one of the VPC. */
  readonly securityGroups?: readonly string[] | undefined;
  /** Of AWS_ECS: the cluster of ECS; `default` unless given. */
  readonly clusterName?: string | undefined;
  /** Of AWS_ECS: the ARN of the role that pulls the image. */
  readonly executionRole?: string | undefined;
  /** Needed by AZURE_CONTAINER_INSTANCES; absent: `AZURE_SUBSCRIPTION_ID`. */
  readonly subscriptionId?: string | undefined;
  /** Of GCP_CLOUD_RUN: whom the container acts as; absent: the project's default service account. */
  readonly serviceAccount?: string | undefined;
  /** Of GCP_CLOUD_RUN; true unless given: setup waits for an answer, and a private service gives it only to tokens of Google. */
  readonly allowUnauthenticated?: boolean | undefined;
}

export interface KubernetesOptions extends ComputerOptions {
  /** `KubernetesPlatform.LOCAL` unless given: the cluster of kubectl, or the one that this process runs in. */
  readonly platform?: KubernetesPlatform | undefined;
  /** `default` unless given. */
  readonly namespace?: string | undefined;
  /** Needed beyond LOCAL. */
  readonly clusterName?: string | undefined;
  /** Needed by AWS_EKS and GCP_GKE; absent: `AWS_REGION` for AWS_EKS. */
  readonly region?: string | undefined;
  /** Needed by AZURE_AKS. */
  readonly resourceGroup?: string | undefined;
  /** Needed by GCP_GKE; absent: `GOOGLE_CLOUD_PROJECT`. */
  readonly projectId?: string | undefined;
  /** Version of the image; absent: that of this package. */
  readonly version?: string | undefined;
  /** Image, in place of the one that Muster builds. */
  readonly image?: string | undefined;
  /** `LoadBalancer` unless given; a `ClusterIP` is reached only within the cluster. */
  readonly serviceType?: 'ClusterIP' | 'LoadBalancer' | undefined;
}

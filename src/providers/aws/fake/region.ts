import type { Instance } from './ec2/instance.ts';
import type { Task } from './ecs/task.ts';
import type { TaskDefinition } from './ecs/task-definition.ts';
import type { Params } from './wire/params.ts';

export interface Image {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** What `Owners: ['amazon']` finds. */
  readonly ownerAlias?: string | undefined;
  readonly createdAtMs: number;
  readonly architecture: string;
  /** Until then it is pending; absent: it is available. */
  readonly availableAtMs?: number | undefined;
  /** Taken from an instance of the account. */
  readonly made?: { readonly instanceId: string; readonly snapshotId: string } | undefined;
  readonly tags?: Map<string, string> | undefined;
}

export interface Subnet {
  readonly id: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly block: string;
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly vpcId: string;
  readonly tags?: ReadonlyMap<string, string> | undefined;
}

export interface LaunchTemplate {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  defaultVersion: number;
  /** Version n stands at n − 1. */
  readonly versions: { readonly data: Params; readonly note: string | undefined; readonly atMs: number }[];
  readonly tags: Map<string, string>;
}

export interface InstanceType {
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMib: number;
  readonly architecture: string;
  readonly gpus?: { readonly name: string; readonly maker: string; readonly count: number; readonly memoryMib: number };
}

export type ParameterKind = 'String' | 'StringList' | 'SecureString';

export interface ParameterVersion {
  readonly value: string;
  readonly version: number;
  readonly atMs: number;
}

export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  readonly tier: 'Standard' | 'Advanced' | 'Intelligent-Tiering';
  readonly description: string | undefined;
  readonly keyId: string | undefined;
  readonly dataType: string;
  readonly allowedPattern: string | undefined;
  /** The oldest first; never empty. */
  readonly versions: readonly ParameterVersion[];
  readonly tags: Map<string, string>;
}

/** How much of something can be had. */
export interface Stock {
  /** Machines of a type in all zones together, or of `type@zone`; without an entry there is no end. */
  readonly machines: Map<string, number>;
  /** How many of the next machines of a type AWS will promise and then not have. */
  readonly late: Map<string, number>;
  /** The account's limit of vCPUs by family: `standard`, `g`, `p`, … ; `spot:` before it means spot requests. */
  readonly vcpus: Map<string, number>;
}

/** A cluster of EKS; without an address while it is being created. */
export interface EksCluster {
  readonly name: string;
  readonly status: 'CREATING' | 'ACTIVE';
  readonly endpoint?: string | undefined;
  /** As PEM. */
  readonly ca?: string | undefined;
}

/** One region: nothing in it is seen from another. */
export interface Region {
  readonly name: string;
  readonly zones: readonly string[];
  readonly instances: Map<string, Instance>;
  /** What a client token was used for. */
  readonly launches: Map<string, { readonly fingerprint: string; readonly instances: readonly Instance[] }>;
  readonly templates: Map<string, LaunchTemplate>;
  readonly images: Map<string, Image>;
  readonly subnets: Map<string, Subnet>;
  readonly groups: Map<string, SecurityGroup>;
  /** Ids of the snapshots of the account. */
  readonly snapshots: Set<string>;
  /** Names of key pairs. */
  readonly keyPairs: Set<string>;
  /** Names of instance profiles; IAM has them once for all regions. */
  readonly profiles: Set<string>;
  readonly types: Map<string, InstanceType>;
  /** The zones in which each type is offered. */
  readonly offerings: Map<string, readonly string[]>;
  readonly stock: Stock;
  readonly clusters: Map<string, EksCluster>;
  /** Names of clusters of ECS. */
  readonly ecsClusters: Set<string>;
  /** By `family:revision`. */
  readonly taskDefinitions: Map<string, TaskDefinition>;
  /** The last revision of a family while ECS remembers it. */
  readonly lastRevisions: Map<string, number>;
  /** By ARN. */
  readonly tasks: Map<string, Task>;
  /** What a client token of RunTask was used for. */
  readonly taskLaunches: Map<string, { readonly fingerprint: string; readonly tasks: readonly Task[] }>;
  /** Images that no registry has. */
  readonly missingImages: Set<string>;
  readonly parameters: Map<string, Parameter>;
  /** The names of `parameters` in order; undefined after one came or went. */
  parameterNames: readonly string[] | undefined;
}

export function emptyRegion(name: string): Region {
  return {
    name,
    zones: ['a', 'b', 'c'].map((letter) => name + letter),
    instances: new Map(),
    launches: new Map(),
    templates: new Map(),
    images: new Map(),
    subnets: new Map(),
    groups: new Map(),
    snapshots: new Set(),
    keyPairs: new Set(),
    profiles: new Set(),
    types: new Map(),
    offerings: new Map(),
    stock: { machines: new Map(), late: new Map(), vcpus: new Map() },
    clusters: new Map(),
    ecsClusters: new Set(),
    taskDefinitions: new Map(),
    lastRevisions: new Map(),
    tasks: new Map(),
    taskLaunches: new Map(),
    missingImages: new Set(),
    parameters: new Map(),
    parameterNames: undefined,
  };
}

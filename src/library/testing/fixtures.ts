// Each class on its fake cloud: how it is made there, which calls go wrong, what is left at the end.
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { SliceHarness } from '#sim/slice/cloud.ts';
import { definitionsIn, IMAGE as ECS_IMAGE, ECS_SLICE, REGION } from '../../providers/aws/fake/ecs/slice/testing.ts';
import { SEED_DATA } from '../../providers/aws/fake/seed-data.ts';
import { AWS_SLICE } from '../../providers/aws/fake/slice/testing.ts';
import { GROUP_SLICE } from '../../providers/azure/fake/containers/testing/slice.ts';
import { IMAGE as CONTAINER_IMAGE } from '../../providers/azure/fake/containers/testing.ts';
import { VM_SLICE } from '../../providers/azure/fake/slice/testing.ts';
import { GPU, GROUP, SUBSCRIPTION } from '../../providers/azure/fake/testing.ts';
import { DOCKER_SLICE } from '../../providers/docker/fake/testing.ts';
import { PROJECT } from '../../providers/gcp/fake/compute/seed-data.ts';
import { INSTANCE_SLICE } from '../../providers/gcp/fake/compute/testing/slices.ts';
import type { FakeGcp } from '../../providers/gcp/fake/fake-gcp.ts';
import { variableIn } from '../../providers/gcp/fake/run/service.ts';
import { IMAGE as SERVICE_IMAGE } from '../../providers/gcp/fake/run/testing/scene.ts';
import { RUN_SLICE, fakesOf as runOf } from '../../providers/gcp/fake/run/testing/slices.ts';
import { objectsOf, reached } from '../../providers/kubernetes/deployments/testing.ts';
import { DEPLOYMENT_SLICE, fakesOf } from '../../providers/kubernetes/fake/slice/deployments/testing.ts';
import {
  AWSProvisioner,
  AzureProvisioner,
  DockerProvisioner,
  GCPProvisioner,
  KubernetesProvisioner,
} from '../classes.ts';
import { type ComputerOptions, DockerPlatform } from '../options.ts';
import type { PlatformProvisioner } from '../platform-class.ts';
import type { LibraryWorld, LibraryWorldOptions, Script } from './world.ts';

export const LOSSES = ['lost reply', 'lost request', 'truncated reply'] as const;

export interface PlatformFixture {
  readonly title: string;
  readonly harness: SliceHarness;
  readonly world?: LibraryWorldOptions;
  /** A computer of this script. */
  make(script: Script, options?: ComputerOptions): PlatformProvisioner;
  /** The call that makes its machine. */
  readonly creation: string;
  readonly deletion: string;
  /** The cloud itself deletes its machine at the end. */
  readonly isEndedByCloud?: true;
  /** The file that the agent of its machine gets. */
  agentFile(world: LibraryWorld): string;
  readonly denied: CallFailure;
  /** What the cloud says where it has no room, and where the account may have no more. */
  readonly shortages: readonly CallFailure[];
  /** What a lost call left unfinished is deleted and made anew. */
  readonly makesAnew?: true;
  /** The machine that its fake promises and does not make, if that is not the usual one. */
  readonly late?: ComputerOptions & Readonly<Record<string, unknown>>;
  /** How the nth of many must differ, besides in its name. */
  readonly another?: (at: number) => ComputerOptions & Readonly<Record<string, unknown>>;
  /** What is left of computers in the cloud. */
  remains(world: LibraryWorld): readonly string[];
}

const error = (code: string, status: number, message = code) => ({ kind: 'error', code, message, status }) as const;

/** In the script of a machine, or put into its container as it is. */
function fileInScripts({ ours }: LibraryWorld): string {
  const text = ours()
    .flatMap(({ scripts }) => scripts())
    .join('\n');
  return /agent\.yaml" <<'MUSTER_END'\n([\s\S]*?)\nMUSTER_END/.exec(text)?.[1] ?? text;
}

const machines = ({ ours }: LibraryWorld): readonly string[] => ours().map(({ name }) => name);

export const FIXTURES: readonly PlatformFixture[] = [
  {
    title: 'an EC2 instance',
    harness: AWS_SLICE,
    make: (script, options) => new (script.use(AWSProvisioner))({ imageId: SEED_DATA.image, ...options }),
    creation: 'RunInstances',
    deletion: 'TerminateInstances',
    denied: { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
    shortages: [error('InsufficientInstanceCapacity', 500), error('VcpuLimitExceeded', 400)],
    late: { instanceType: 'p3.2xlarge' },
    remains: machines,
    agentFile: fileInScripts,
  },
  {
    title: 'a virtual machine of Azure',
    harness: VM_SLICE,
    make: (script, options) =>
      new (script.use(AzureProvisioner))({
        subscriptionId: SUBSCRIPTION,
        resourceGroup: GROUP,
        location: GPU.location,
        imageId: 'Canonical:ubuntu-24_04-lts:server:latest',
        ...options,
      }),
    creation: 'management.vmPut',
    deletion: 'management.vmDelete',
    denied: VM_SLICE.denied,
    shortages: [
      error('SkuNotAvailable', 409),
      error('OperationNotAllowed', 409, 'It results in exceeding approved Cores quota.'),
    ],
    remains: machines,
    agentFile: fileInScripts,
  },
  {
    title: 'an instance of Compute Engine',
    harness: INSTANCE_SLICE,
    make: (script, options) =>
      new (script.use(GCPProvisioner))({ project: PROJECT, sourceImage: 'debian-cloud/debian-12', ...options }),
    isEndedByCloud: true,
    creation: 'compute.instances.bulkInsert',
    deletion: 'compute.instances.delete',
    denied: INSTANCE_SLICE.denied,
    shortages: [error('ZONE_RESOURCE_POOL_EXHAUSTED', 503), error('quotaExceeded', 403)],
    remains: machines,
    agentFile: fileInScripts,
  },
  {
    title: 'a container',
    harness: DOCKER_SLICE,
    make: (script, options) => new (script.use(DockerProvisioner))({ image: 'muster/agent', ...options }),
    creation: 'create',
    deletion: 'delete',
    denied: DOCKER_SLICE.denied,
    shortages: [error('no room', 500, 'mkdir /var/lib/docker/overlay2/1: no space left on device')],
    makesAnew: true,
    another: (at) => ({ containerName: `box-${at}`, port: 8_000 + at }),
    remains: machines,
    agentFile: fileInScripts,
  },
  {
    title: 'a task of ECS',
    harness: ECS_SLICE,
    make: (script, options) =>
      new (script.use(DockerProvisioner))({
        platform: DockerPlatform.AWS_ECS,
        region: REGION,
        subnets: [SEED_DATA.subnets[0]],
        image: ECS_IMAGE,
        ...options,
      }),
    creation: 'RunTask',
    deletion: 'StopTask',
    denied: ECS_SLICE.denied,
    shortages: [
      error('ClientException', 400, 'Capacity is unavailable at this time. Please try again later.'),
      error('LimitExceededException', 400),
    ],
    remains: (world) => [
      ...machines(world),
      ...definitionsIn(world.cloud).map(() => `task definition of ${machines(world)[0]}`),
    ],
    agentFile: fileInScripts,
  },
  {
    title: 'a container group of Azure',
    harness: GROUP_SLICE,
    make: (script, options) =>
      new (script.use(DockerProvisioner))({
        platform: DockerPlatform.AZURE_CONTAINER_INSTANCES,
        subscriptionId: SUBSCRIPTION,
        resourceGroup: GROUP,
        image: CONTAINER_IMAGE,
        ...options,
      }),
    creation: GROUP_SLICE.creation,
    deletion: 'management.containerDelete',
    denied: GROUP_SLICE.denied,
    shortages: [
      error('ServiceUnavailable', 409, "The requested resource is not available in the location 'eastus'."),
      error('ContainerGroupQuotaReached', 400),
    ],
    remains: machines,
    agentFile: fileInScripts,
  },
  {
    title: 'a Deployment',
    harness: DEPLOYMENT_SLICE,
    world: {
      reaches(cloud, place) {
        const fake = fakesOf.get(cloud);
        return fake !== undefined && reached(fake, place) !== undefined;
      },
    },
    make: (script, options) => new (script.use(KubernetesProvisioner))({ image: 'muster/agent', ...options }),
    creation: 'create deployments',
    deletion: 'delete deployments',
    denied: { kind: 'error', code: 'Forbidden', status: 403 },
    shortages: [error('Forbidden', 403, 'deployments.apps "c-1" is forbidden: exceeded quota: few, requested: 1')],
    remains({ cloud }) {
      const fake = fakesOf.get(cloud);
      return fake ? objectsOf(fake) : [];
    },
    agentFile({ cloud }) {
      const [secret] = fakesOf.get(cloud)?.objects('secrets') ?? [];
      const [file = ''] = Object.values((secret as { readonly data?: Record<string, string> } | undefined)?.data ?? {});
      return Buffer.from(file, 'base64').toString();
    },
  },
  {
    title: 'a service of Cloud Run',
    harness: RUN_SLICE,
    make: (script, options) =>
      new (script.use(DockerProvisioner))({
        platform: DockerPlatform.GCP_CLOUD_RUN,
        projectId: PROJECT,
        image: SERVICE_IMAGE,
        ...options,
      }),
    creation: RUN_SLICE.creation,
    deletion: 'run.services.delete',
    denied: RUN_SLICE.denied,
    shortages: [
      error('INVALID_ARGUMENT', 400, 'Quota violated: CpuAllocPerProjectRegion requested: 24000 allowed: 20000'),
    ],
    remains: machines,
    agentFile: ({ cloud }) =>
      (runOf.get(cloud) as FakeGcp).world.run.services
        .map((service) => variableIn(service, 'MUSTER_AGENT_CONFIG'))
        .join('\n'),
  },
];

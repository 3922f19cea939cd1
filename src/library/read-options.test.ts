import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import {
  AWSProvisioner,
  AzureProvisioner,
  DockerProvisioner,
  GCPProvisioner,
  KubernetesProvisioner,
} from './classes.ts';
import { DockerPlatform, KubernetesPlatform } from './options.ts';
import { readOptions } from './read-options.ts';
import { systemParts } from './system-parts.ts';
import { withParts } from './testing/with-parts.ts';

const AZURE = '00000000-0000-0000-0000-000000000001';

/** The class in a process with that environment. */
const withVariables = <C extends new (...args: never[]) => object>(
  it: C,
  variables: Readonly<Record<string, string>> = {},
): C => withParts(it, { ...systemParts(), stateDir: '/state', variable: (name) => variables[name] });

const AWS = withVariables(AWSProvisioner);
const Azure = withVariables(AzureProvisioner);
const GCP = withVariables(GCPProvisioner);
const Docker = withVariables(DockerProvisioner);
const Kubernetes = withVariables(KubernetesProvisioner);

function faultOf(make: () => unknown): Fault {
  try {
    make();
  } catch (thrown) {
    return Fault.from(thrown);
  }
  throw new Fault('internal', 'Nothing was thrown.');
}

describe('the defaults of a class', () => {
  it.each([
    [
      'AWSProvisioner',
      () => new AWS(),
      { region: 'us-west-2', instanceType: 't2.micro', imageId: undefined, securityGroups: undefined, timeout: 300 },
    ],
    [
      'AzureProvisioner',
      () => new Azure({ subscriptionId: AZURE }),
      {
        resourceGroup: 'commandlab-rg',
        location: 'eastus',
        vmSize: 'Standard_DS1_v2',
        subscriptionId: AZURE,
        imageId: undefined,
        timeout: 600,
      },
    ],
    [
      'GCPProvisioner',
      () => new GCP({ project: 'my-project' }),
      {
        project: 'my-project',
        zone: 'us-central1-a',
        machineType: 'n1-standard-1',
        sourceImage: undefined,
        timeout: 600,
      },
    ],
    [
      'DockerProvisioner',
      () => new Docker(),
      {
        containerName: 'commandlab-daemon',
        platform: 'local',
        version: undefined,
        region: undefined,
        resourceGroup: undefined,
        projectId: undefined,
        subnets: undefined,
        securityGroups: undefined,
        subscriptionId: undefined,
        timeout: 300,
      },
    ],
    [
      'KubernetesProvisioner',
      () => new Kubernetes(),
      {
        platform: 'local',
        namespace: 'default',
        clusterName: undefined,
        region: undefined,
        resourceGroup: undefined,
        projectId: undefined,
        version: undefined,
        timeout: 300,
      },
    ],
  ])('%s are those that its users know', (_name, make, expected) => {
    expect(make()).toMatchObject({ port: 8000, maxRetries: 3, ...expected });
    expect(make().getStatus()).toBe('not_started');
  });

  it('are replaced by what is given', () => {
    const box = new Docker({ port: 9000, containerName: 'box', version: '1.2.0', timeout: 60, maxRetries: 5 });
    expect(box).toMatchObject({ port: 9000, containerName: 'box', name: 'box', version: '1.2.0', timeout: 60 });
    expect(box.maxRetries).toBe(5);
  });

  it('give the platforms the words that their users know', () => {
    expect(Object.values(DockerPlatform)).toEqual(['local', 'aws_ecs', 'azure_container_instances', 'gcp_cloud_run']);
    expect(Object.values(KubernetesPlatform)).toEqual(['local', 'aws_eks', 'azure_aks', 'gcp_gke']);
  });
});

describe('what a platform needs is checked at construction', () => {
  it.each<readonly [string, () => unknown, string, string | undefined]>([
    ['AzureProvisioner', () => new Azure(), 'subscriptionId', 'AZURE_SUBSCRIPTION_ID'],
    ['GCPProvisioner', () => new GCP(), 'project', 'GOOGLE_CLOUD_PROJECT'],
    ['AWS_ECS', () => new Docker({ platform: 'aws_ecs' }), 'region', 'AWS_REGION'],
    [
      'AZURE_CONTAINER_INSTANCES',
      () => new Docker({ platform: 'azure_container_instances', resourceGroup: 'g' }),
      'subscriptionId',
      'AZURE_SUBSCRIPTION_ID',
    ],
    [
      'AZURE_CONTAINER_INSTANCES without a group',
      () => new Docker({ platform: 'azure_container_instances', subscriptionId: AZURE }),
      'resourceGroup',
      undefined,
    ],
    ['GCP_CLOUD_RUN', () => new Docker({ platform: 'gcp_cloud_run' }), 'projectId', 'GOOGLE_CLOUD_PROJECT'],
    ['AWS_EKS', () => new Kubernetes({ platform: 'aws_eks', region: 'r' }), 'clusterName', undefined],
    [
      'AWS_EKS without a region',
      () => new Kubernetes({ platform: 'aws_eks', clusterName: 'c' }),
      'region',
      'AWS_REGION',
    ],
    ['AZURE_AKS', () => new Kubernetes({ platform: 'azure_aks', clusterName: 'c' }), 'resourceGroup', undefined],
    [
      'GCP_GKE',
      () => new Kubernetes({ platform: 'gcp_gke', clusterName: 'c', region: 'r' }),
      'projectId',
      'GOOGLE_CLOUD_PROJECT',
    ],
  ])('%s', (_what, make, option, variable) => {
    const fault = faultOf(make);
    expect(fault).toMatchObject({ kind: 'invalid', at: option });
    expect(fault.message).toContain(`needs ${option}.`);
    expect(fault.remedy).toBe(variable === undefined ? `Give ${option}.` : `Give ${option}, or set ${variable}.`);
  });

  it('and the variable may stand for the option', () => {
    const ECS = { platform: 'aws_ecs', subnets: ['subnet-1'], image: 'host.example/agent:1.2.0' } as const;
    expect(new (withVariables(AzureProvisioner, { AZURE_SUBSCRIPTION_ID: AZURE }))()).toBeDefined();
    expect(new (withVariables(GCPProvisioner, { GOOGLE_CLOUD_PROJECT: 'my-project' }))()).toBeDefined();
    expect(new (withVariables(DockerProvisioner, { AWS_REGION: 'r' }))(ECS)).toBeDefined();
  });
});

describe('an option', () => {
  it('that a class does not have is refused, with the nearest one', () => {
    const given = { regoin: 'eu-west-1' } as object;
    expect(faultOf(() => new AWS(given))).toMatchObject({
      message: 'AWSProvisioner has no option regoin.',
      at: 'regoin',
      remedy: 'Did you mean region?',
    });
  });

  it('of another platform of the same class is taken, and has no effect', () => {
    expect(new Docker({ region: 'us-west-2' }).region).toBe('us-west-2');
  });

  it.each<readonly [object, string]>([
    [{ port: 70_000 }, 'port'],
    [{ maxRetries: 0 }, 'maxRetries'],
    [{ timeout: -1 }, 'timeout'],
    [{ ttl: 'soon' }, 'ttl'],
    [{ name: 'A b' }, 'name'],
    [{ platform: 'locla' }, 'platform'],
  ])('with a bad value is refused: %j', (given, at) => {
    const fault = faultOf(() => new Docker(given));
    expect(fault.kind).toBe('invalid');
    expect(`${fault.at} ${fault.message} ${fault.remedy}`).toContain(at);
  });

  it.each<readonly [string, () => unknown, string]>([
    ['GCPProvisioner', () => new GCP({ project: 'p' }), 'project'],
    ['AzureProvisioner', () => new Azure({ subscriptionId: 'mine' }), 'subscriptionId'],
    ['KubernetesProvisioner', () => new Kubernetes({ namespace: 'Not_One' }), 'namespace'],
  ])('that its cloud can never take is refused by %s itself, under its own name', (_class, make, option) => {
    expect(faultOf(make)).toMatchObject({
      kind: 'invalid',
      at: option,
      message: expect.stringMatching(new RegExp(`^${option}: must be `)),
      remedy: expect.stringMatching(/^`muster computer platforms \w+` lists its options\.$/),
    });
  });

  it.each([8000, 'box', null, [8000]])('given by its place, as in Python, is refused: %j', (given) => {
    for (const Class of [AWS, GCP, Kubernetes])
      expect(faultOf(() => new Class(given as object))).toMatchObject({
        kind: 'invalid',
        message: `${Class.name} takes its options as an object, not ${JSON.stringify(given)}.`,
        remedy: `Write them by name: new ${Class.name}({ port: 8000 }).`,
      });
  });

  it('ttl is 24 hours unless given, and `off` for no end', () => {
    const rules = { platforms: { local: 'local' }, keys: ['containerName'], timeoutSeconds: 300 };
    const context = { variable: () => undefined, agentImage: 'muster/agent:1', kinds: systemParts().kinds };
    const ttlOf = (ttl?: string): unknown => readOptions('X', rules, { ttl }, context).ttlMs;
    expect([ttlOf(), ttlOf('8h'), ttlOf('off')]).toEqual([DAY_MS, DAY_MS / 3, 'off']);
  });
});

describe('setup', () => {
  it('of the standard image without an agent to fetch says what to give', async () => {
    const [aws, gcp] = [new AWS({ imageId: 'standard' }), new GCP({ project: 'my-project', sourceImage: 'standard' })];
    await expect(aws.setup()).rejects.toMatchObject({ kind: 'invalid', at: 'imageId' });
    await expect(gcp.setup()).rejects.toMatchObject({ kind: 'invalid', at: 'sourceImage' });
  });
});

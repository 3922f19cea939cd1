// What a new node of a group will be, from its instance template and machine type.
import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import { type AttachedAccelerator, type GroupResource, type InstanceTemplate, lastPart } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { templatePathOf } from '../instance-group/facts.ts';
import type { Group } from '../instance-group/group.ts';
import { readKubeEnv } from './kube-env.ts';
import { allocatableOf } from './reserved.ts';

interface MachineType {
  readonly guestCpus?: number;
  readonly memoryMb?: number;
  readonly architecture?: string;
  readonly accelerators?: readonly {
    readonly guestAcceleratorType?: string;
    readonly guestAcceleratorCount?: number;
  }[];
}

const MIB = 2 ** 20;

/** Those that are attached, else those that are part of the machine type. */
function gpusOf(attached: readonly AttachedAccelerator[], { accelerators = [] }: MachineType): number {
  const all = [
    ...attached.map((one) => [one.acceleratorType, one.acceleratorCount] as const),
    ...(attached.length > 0 ? [] : accelerators).map(
      (one) => [one.guestAcceleratorType, one.guestAcceleratorCount] as const,
    ),
  ];
  const gpus = all.filter(([type = '']) => lastPart(type).startsWith('nvidia-'));
  return gpus.reduce((sum, [, count = 0]) => sum + Number(count), 0);
}

/** The labels that the cloud provider of Kubernetes gives every node. */
function placeLabels(zone: string | undefined, region: string): Readonly<Record<string, string>> {
  const ofZone = zone && { 'topology.kubernetes.io/zone': zone, 'topology.gke.io/zone': zone };
  return { 'topology.kubernetes.io/region': region, ...ofZone };
}

const ARCHITECTURES: Readonly<Record<string, string>> = { ARM64: 'arm64' };

function machineTypeAt(compute: Compute, zone: string, name: string, signal: AbortSignal): Promise<MachineType> {
  const path = `/zones/${zone}/machineTypes/${name}`;
  return compute.keep(path, HOUR_MS, () => compute.ask<MachineType>({ path }, signal));
}

/** Its template never changes; another one has another name. */
function templateOf({ compute, name }: Group, resource: GroupResource, signal: AbortSignal): Promise<InstanceTemplate> {
  const url = resource.instanceTemplate ?? resource.versions?.at(-1)?.instanceTemplate;
  if (!url) throw new Fault('invalid', `The instance group ${name} has no instance template.`);
  const path = templatePathOf(url);
  return compute.keep(path, HOUR_MS, () => compute.ask<InstanceTemplate>({ path }, signal));
}

const valueIn = ({ properties }: InstanceTemplate, wanted: string): string =>
  properties?.metadata?.items?.find(({ key }) => key === wanted)?.value ?? '';

/** The node pool of GKE that the group is behind, as GKE writes it into the metadata of its instances. */
export async function poolBehind(group: Group, resource: GroupResource, signal: AbortSignal) {
  const template = await templateOf(group, resource, signal);
  const pool = readKubeEnv(valueIn(template, 'kube-env')).labels['cloud.google.com/gke-nodepool'];
  const clusterName = valueIn(template, 'cluster-name');
  const location = valueIn(template, 'cluster-location');
  if (pool === undefined || clusterName === '' || location === '') return undefined;
  return { pool, at: { project: group.compute.project, location, clusterName } };
}

/** In a regional group: of the first zone, and no label of a zone, since new nodes may come in any of them. */
export async function nodeTemplateOf(
  group: Group,
  resource: GroupResource,
  signal: AbortSignal,
): Promise<NodeTemplate> {
  const { compute, place } = group;
  const template = await templateOf(group, resource, signal);
  const { machineType = '', guestAccelerators = [], disks = [] } = template.properties ?? {};
  const [places, at = ''] = place.split('/');
  const isZonal = places === 'zones';
  const zone = isZonal ? at : lastPart(resource.distributionPolicy?.zones?.[0]?.zone ?? '');
  const type = await machineTypeAt(compute, zone, lastPart(machineType), signal);
  const env = readKubeEnv(valueIn(template, 'kube-env'));
  const diskGib = Number(disks.find(({ boot }) => boot)?.initializeParams?.diskSizeGb ?? 0);
  const capacity = {
    cpus: type.guestCpus ?? 0,
    memoryBytes: (type.memoryMb ?? 0) * MIB,
    diskGib: diskGib > 0 ? diskGib : undefined,
    gpus: gpusOf(guestAccelerators, type),
  };
  return {
    allocatable: allocatableOf(capacity, env.reserved),
    labels: {
      'kubernetes.io/arch': ARCHITECTURES[type.architecture ?? ''] ?? 'amd64',
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': lastPart(machineType),
      ...placeLabels(isZonal ? at : undefined, isZonal ? at.replace(/-[a-z]$/, '') : at),
      ...env.labels,
    },
    taints: env.taints,
  };
}

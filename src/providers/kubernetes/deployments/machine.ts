// A Deployment with its pod and its Service as a machine: its state, where it is reached, what keeps it from running.
import { MINUTE_MS } from '#core/clock.ts';
import type { Machine, MachineEndpoint, Trouble } from '#core/provider.ts';
import { refusalOfAuthor, refusalOfPlugin } from '#kube/admission.ts';
import type { KubeMetadata, KubeObject } from '#kube/object.ts';
import type { Pod, PodCondition } from '../pods/machine.ts';
import { LAUNCH_ANNOTATION, markOf } from '../pods/marks.ts';
import { MACHINE_LABEL } from './objects.ts';

/** What we read of a Deployment; everything else is dropped as soon as it arrives. */
export interface Deployment extends KubeObject {
  readonly spec: { readonly replicas: number; readonly isPaused: boolean };
  readonly status: {
    readonly replicas: number;
    readonly available: number;
    /** Why its pod is refused. */
    readonly refused?: string | undefined;
  };
}

/** What we read of a Service. */
export interface Service extends KubeObject {
  readonly endpoints: readonly MachineEndpoint[];
}

interface WholeDeployment extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly paused?: boolean };
  readonly status?: {
    readonly replicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly PodCondition[];
  };
}

interface WholeService extends KubeObject {
  readonly spec?: { readonly clusterIP?: string; readonly ports?: readonly { readonly port: number }[] };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
}

function keptOfMetadata(metadata: KubeMetadata): KubeMetadata {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels } = metadata;
  const launch = metadata.annotations?.[LAUNCH_ANNOTATION];
  const annotations = launch === undefined ? {} : { [LAUNCH_ANNOTATION]: launch };
  const kept = { name, namespace, uid, resourceVersion, creationTimestamp, labels, annotations };
  return deletionTimestamp === undefined ? kept : { ...kept, deletionTimestamp };
}

export function keptOfDeployment(object: KubeObject): Deployment {
  const { metadata, spec, status } = object as WholeDeployment;
  const refused = status?.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
  return {
    metadata: keptOfMetadata(metadata),
    spec: { replicas: spec?.replicas ?? 1, isPaused: spec?.paused === true },
    status: {
      replicas: status?.replicas ?? 0,
      available: status?.availableReplicas ?? 0,
      ...(refused && { refused: refused.message ?? refused.reason ?? '' }),
    },
  };
}

/** The load balancer first: where there is one, it is meant to be used. */
export function keptOfService(object: KubeObject): Service {
  const { metadata, spec, status } = object as WholeService;
  const balanced = status?.loadBalancer?.ingress?.flatMap(({ ip, hostname }) => ip ?? hostname ?? []) ?? [];
  const inside = spec?.clusterIP && spec.clusterIP !== 'None' ? [spec.clusterIP] : [];
  const ports = spec?.ports ?? [];
  const endpoints = [...balanced, ...inside].flatMap((host) => ports.map(({ port }) => ({ host, port })));
  return { metadata: keptOfMetadata(metadata), endpoints };
}

const ENDED: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed']);

/** By machine, the pod that counts: an evicted one and one that is on its way out only stay for a while. */
export function currentPods(pods: Iterable<Pod>): ReadonlyMap<string, Pod> {
  const found = new Map<string, Pod>();
  for (const pod of pods) {
    const { labels, deletionTimestamp, creationTimestamp = '' } = pod.metadata;
    const machine = labels?.[MACHINE_LABEL];
    if (machine === undefined || deletionTimestamp !== undefined || ENDED.has(pod.status?.phase)) continue;
    if (creationTimestamp >= (found.get(machine)?.metadata.creationTimestamp ?? '')) found.set(machine, pod);
  }
  return found;
}

export const isUnfinished = ({ metadata, spec, status }: Deployment): boolean =>
  spec.isPaused && status.replicas === 0 && spec.replicas > 0 && metadata.deletionTimestamp === undefined;

// Longer than a launch may take.
const UNFINISHED_MS = 3 * MINUTE_MS;

/**
 * Whether it counts as not made yet. A listing counts as the answer to a launch, so one that is listed is never finished;
 * a launch that is repeated finishes it. One that stays unfinished is listed, and goes.
 */
export const isBeingMade = (deployment: Deployment, waitedMs: number): boolean =>
  isUnfinished(deployment) && waitedMs < UNFINISHED_MS;

export interface DeploymentReading {
  /** Its pod, read as a machine of its own. */
  readonly pod?: Machine | undefined;
  readonly service?: Service | undefined;
  /** How long it has been seen unfinished, or its pod refused. */
  readonly waitedMs: number;
  readonly schedulingTimeoutMs: number;
}

/** The machine that a Deployment is. */
export function machineOf(deployment: Deployment, reading: DeploymentReading): Machine {
  const { metadata } = deployment;
  const { pod, service } = reading;
  const state = stateOf(deployment);
  const isMeant = state === 'creating' || state === 'running';
  const trouble = isMeant ? troubleOf(deployment, reading) : undefined;
  const endpoints = state === 'running' ? (service?.endpoints ?? []) : [];
  return {
    name: metadata.name,
    mark: markOf(deployment),
    id: metadata.uid,
    createdAt: Date.parse(metadata.creationTimestamp ?? '') || 0,
    state,
    ...(trouble && { trouble }),
    ...(isMeant && pod?.addresses && { addresses: pod.addresses }),
    ...(endpoints.length > 0 && { endpoints }),
  };
}

function stateOf({ metadata, spec, status }: Deployment): Machine['state'] {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  if (spec.replicas === 0) return status.replicas > 0 ? 'suspending' : 'suspended';
  return status.available > 0 ? 'running' : 'creating';
}

function troubleOf(deployment: Deployment, { pod, waitedMs, schedulingTimeoutMs }: DeploymentReading) {
  if (isUnfinished(deployment)) return UNFINISHED;
  const { refused } = deployment.status;
  if (refused === undefined) return pod?.trouble;
  return refusedPod(refused, deployment.metadata.namespace ?? '', waitedMs >= schedulingTimeoutMs);
}

const UNFINISHED: Trouble = {
  kind: 'unavailable',
  reason: 'Unfinished',
  message: 'its Deployment is not complete: the server ended, or lost the API server, while it made it',
  final: true,
};

/** Admission refuses the pod of a Deployment that it has let pass; the cluster tries again for as long as that is there. */
function refusedPod(message: string, namespace: string, isFinal: boolean): Trouble {
  const about = { code: 403, message, what: 'the template', where: `namespace ${namespace}` };
  const { kind = 'denied', remedy } = refusalOfAuthor(about) ?? refusalOfPlugin(about) ?? {};
  return {
    kind,
    reason: 'ReplicaFailure',
    message: `the cluster refuses its pod: ${message}${remedy ? ` ${remedy}` : ''}`,
    final: isFinal,
  };
}

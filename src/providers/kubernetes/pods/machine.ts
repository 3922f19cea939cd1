// A pod as a machine: its state, its addresses, and what keeps it from starting.
import type { Machine, Trouble } from '#core/provider.ts';
import type { KubeObject } from '#kube/object.ts';
import { markOf } from './marks.ts';

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

interface ContainerEnd {
  readonly reason?: string;
  readonly exitCode?: number;
  readonly message?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image?: string | undefined;
  readonly restartCount?: number | undefined;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string } | undefined;
    readonly running?: object | undefined;
    readonly terminated?: ContainerEnd | undefined;
  };
  readonly lastState?: { readonly terminated?: ContainerEnd | undefined } | undefined;
}

/** What we read of a pod; everything else is dropped as soon as it arrives. */
export interface Pod extends KubeObject {
  readonly spec?: { readonly hostNetwork?: boolean | undefined; readonly nodeName?: string | undefined } | undefined;
  readonly status?:
    | {
        readonly phase?: string | undefined;
        readonly reason?: string | undefined;
        readonly message?: string | undefined;
        readonly podIP?: string | undefined;
        readonly podIPs?: readonly { readonly ip?: string }[] | undefined;
        readonly conditions?: readonly PodCondition[] | undefined;
        readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
        readonly containerStatuses?: readonly ContainerStatus[] | undefined;
      }
    | undefined;
}

const METADATA_KEPT = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
];

/** The few fields of a pod that a machine is read from: ten thousand whole pods would fill the memory. */
export function keptOfPod(object: KubeObject): Pod {
  const { spec, status } = object as Pod;
  const metadata = Object.fromEntries(
    METADATA_KEPT.flatMap((key) => (object.metadata[key] === undefined ? [] : [[key, object.metadata[key]]])),
  ) as unknown as Pod['metadata'];
  return {
    metadata,
    spec: { hostNetwork: spec?.hostNetwork, nodeName: spec?.nodeName },
    status: status && {
      phase: status.phase,
      reason: status.reason,
      message: status.message,
      podIP: status.podIP,
      podIPs: status.podIPs,
      conditions: status.conditions?.filter(({ type }) => type === 'PodScheduled' || type === 'DisruptionTarget'),
      initContainerStatuses: status.initContainerStatuses?.map(keptOfContainer),
      containerStatuses: status.containerStatuses?.map(keptOfContainer),
    },
  };
}

const keptOfContainer = ({ name, image, restartCount = 0, state, lastState }: ContainerStatus): ContainerStatus => ({
  name,
  image,
  restartCount,
  ...(state?.running ? {} : { state }),
  ...(restartCount > 0 && lastState ? { lastState } : {}),
});

export interface PodReading {
  /** How long it has been seen starting. */
  readonly waitedMs: number;
  /** A pod that no node has had room for during this time counts as refused for lack of capacity. */
  readonly schedulingTimeoutMs: number;
  /** What events say about a pod that does not start. */
  readonly found?: Trouble | undefined;
}

const createdAtOf = ({ metadata }: KubeObject): number => Date.parse(metadata.creationTimestamp ?? '') || 0;

/** The machine that a pod is. */
export function machineOf(pod: Pod, reading: PodReading): Machine {
  const { metadata, spec, status } = pod;
  const state = stateOf(pod);
  const trouble = READERS[state]?.(pod, reading);
  const addresses = spec?.hostNetwork ? [] : addressesOf(status);
  return {
    name: metadata.name,
    mark: markOf(pod),
    id: metadata.uid,
    createdAt: createdAtOf(pod),
    state,
    ...(trouble && { trouble }),
    // On the network of its host a pod has the address of everything else there: that proves nothing.
    ...(addresses.length > 0 && { addresses }),
  };
}

/** A pod that runs has trouble too where its containers do not; whether its agent is connected is for others to see. */
const READERS: Readonly<Partial<Record<Machine['state'], (pod: Pod, reading: PodReading) => Trouble | undefined>>> = {
  creating: (pod, reading) => placementOf(pod, reading) ?? containersOf(pod) ?? reading.found,
  running: (pod) => containersOf(pod),
  failed: (pod) => endOf(pod),
};

function stateOf({ metadata, status }: Pod): Machine['state'] {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return 'failed';
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  return status?.phase === 'Running' ? 'running' : 'creating';
}

function addressesOf(status: Pod['status']): readonly string[] {
  const listed = status?.podIPs?.flatMap(({ ip }) => ip ?? []) ?? [];
  return listed.length > 0 ? listed : status?.podIP ? [status.podIP] : [];
}

// By the reason of a failed pod: evicted, or refused by the kubelet of the node that the scheduler had chosen (`OutOfcpu`,
// `OutOfnvidia.com/gpu`, a node that is shutting down).
const LACK_OF_ROOM =
  /^(Evicted|Preempting|OutOf.+|NodeAffinity|NodePorts|NodeShutdown|TopologyAffinityError|UnexpectedAdmissionError)$/;

/** Why a pod came to its end. */
function endOf({ status }: Pod): Trouble {
  const disrupted = status?.conditions?.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True');
  const said = [status?.reason ?? disrupted?.reason, status?.message ?? disrupted?.message].filter(Boolean).join(': ');
  const ended = status?.containerStatuses?.find(({ state }) => state?.terminated)?.state?.terminated;
  const code = ended ? `its container ended with exit code ${ended.exitCode ?? 'unknown'} (${ended.reason ?? ''})` : '';
  const message = said || code || `the pod is ${status?.phase}`;
  // That is no fault of the image: another offer may have room.
  const isRoomless = disrupted !== undefined || LACK_OF_ROOM.test(status?.reason ?? '');
  return { kind: isRoomless ? 'exhausted' : 'unavailable', message, final: true };
}

const PULL_FAILED = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
]);
const CONFIG_FAILED = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

/** Whether the scheduler has found no node for it. */
export const isUnschedulable = ({ status }: Pod): boolean =>
  status?.conditions?.some(
    ({ type, status: is, reason }) => type === 'PodScheduled' && is === 'False' && reason === 'Unschedulable',
  ) ?? false;

/** Why no node takes the pod, in the words of the scheduler. */
function placementOf(pod: Pod, { waitedMs, schedulingTimeoutMs }: PodReading): Trouble | undefined {
  if (!isUnschedulable(pod)) return undefined;
  const said = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? 'Unschedulable';
  // Until then a cluster autoscaler may be adding a node; a deleted pod would call its order off.
  const isFinal = waitedMs >= schedulingTimeoutMs;
  return { kind: 'exhausted', reason: 'Unschedulable', message: `no node has room: ${said}`, final: isFinal };
}

/** What keeps the containers of a pod from running, in the words of the cluster. */
function containersOf({ status }: Pod): Trouble | undefined {
  for (const container of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { reason = '', message: said = reason } = container.state?.waiting ?? {};
    if (PULL_FAILED.has(reason)) {
      const message = `image ${container.image ?? ''} of container ${container.name} cannot be pulled: ${said}. Check its name and imagePullSecrets.`;
      return { kind: 'invalid', reason, message, final: false };
    }
    if (CONFIG_FAILED.has(reason)) {
      const message = `container ${container.name} cannot be created: ${said}. Check the ConfigMaps and Secrets that the template names.`;
      return { kind: 'invalid', reason, message, final: false };
    }
    const crash = crashOf(container);
    if (crash) return crash;
  }
  return undefined;
}

// A first restart may come from a node that was short of memory; after the second the kubelet waits before each start.
const RESTARTS_OF_A_LOOP = 2;

/**
 * A container that ends again and again. Between two waits it runs for a moment: that it did so often decides, and the
 * message is the same throughout, without the growing wait of the kubelet's own, so that no reader sees it come and go.
 */
function crashOf({ name, state, restartCount = 0, lastState }: ContainerStatus): Trouble | undefined {
  const ended = state?.terminated ?? lastState?.terminated;
  const isWaiting = state?.waiting?.reason === CRASH_LOOP;
  const isEndedAgain = state?.terminated !== undefined && restartCount > 0;
  if (!isWaiting && !isEndedAgain && !(ended && restartCount >= RESTARTS_OF_A_LOOP)) return undefined;
  const how = ended
    ? `, last with exit code ${ended.exitCode ?? 'unknown'}${ended.reason ? ` (${ended.reason})` : ''}`
    : '';
  const words = lastWordsOf(ended?.message ?? '');
  const message = `container ${name} ends again and again${how}${words && `: ${words}`}. See \`kubectl logs --previous\`.`;
  return { kind: 'unavailable', reason: CRASH_LOOP, message, final: false };
}

const CRASH_LOOP = 'CrashLoopBackOff';
const LONGEST_WORDS = 400;

/** The end of a termination message, in one line: the kubelet passes on up to 4 KiB, and a log ends with its cause. */
function lastWordsOf(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > LONGEST_WORDS ? `…${line.slice(-LONGEST_WORDS)}` : line;
}

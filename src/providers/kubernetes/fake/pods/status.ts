// The statuses that scheduler and kubelet write, as values.
import { compact, type Fields, fieldsOf, type KubeObject, listOf, textOf, timestamp } from '../objects/object.ts';

export type ContainerState =
  | { readonly waiting: { readonly reason: string; readonly message?: string } }
  | { readonly running: { readonly startedAt: string } }
  | { readonly terminated: Fields };

export const containersOf = ({ spec }: KubeObject): readonly Fields[] => listOf(spec?.containers).map(fieldsOf);

export const conditionOf = ({ status }: KubeObject, type: string): Fields | undefined =>
  listOf(status?.conditions)
    .map(fieldsOf)
    .find((one) => one.type === type);

/** Sets a condition; its time changes only with its status. */
export function withCondition(
  status: Fields,
  type: string,
  value: boolean | 'Unknown',
  nowMs: number,
  why: { reason?: string; message?: string } = {},
): Fields {
  const conditions = listOf(status.conditions).map(fieldsOf);
  const word = typeof value === 'boolean' ? (value ? 'True' : 'False') : value;
  const before = conditions.find((one) => one.type === type);
  const lastTransitionTime = before?.status === word ? before.lastTransitionTime : timestamp(nowMs);
  const made = compact({ type, status: word, lastProbeTime: null, lastTransitionTime, ...why });
  return {
    ...status,
    conditions: before ? conditions.map((one) => (one === before ? made : one)) : [...conditions, made],
  };
}

const withConditions = (
  status: Fields,
  values: Readonly<Record<string, boolean>>,
  nowMs: number,
  reason?: string,
): Fields =>
  Object.entries(values).reduce(
    (made, [type, value]) => withCondition(made, type, value, nowMs, value || !reason ? {} : { reason }),
    status,
  );

export const statusesOf = ({ status }: KubeObject): readonly Fields[] =>
  listOf(status?.containerStatuses).map(fieldsOf);

/** The status of one container in a new state; what it was before goes to `lastState` if it had ended. */
function containerStatus(pod: KubeObject, container: Fields, state: ContainerState, more: Fields = {}): Fields {
  const name = textOf(container.name);
  const before = statusesOf(pod).find((one) => one.name === name);
  const isRunning = 'running' in state;
  const ended = fieldsOf(before?.state).terminated;
  return compact({
    name,
    state,
    lastState: ended === undefined ? fieldsOf(before?.lastState) : { terminated: ended },
    ready: isRunning,
    restartCount: Number(before?.restartCount ?? 0),
    image: textOf(container.image),
    imageID: isRunning ? `simulated://${textOf(container.image)}` : textOf(before?.imageID),
    containerID: isRunning ? `simulated://${pod.metadata.uid}-${name}` : before?.containerID,
    started: isRunning,
    ...more,
  });
}

/** All containers in one state, before they run. */
export function waitingStatus(pod: KubeObject, reason: string, message: string | undefined, nowMs: number): Fields {
  const state = { waiting: compact({ reason, message }) as { reason: string } };
  const base = {
    ...pod.status,
    phase: 'Pending',
    startTime: pod.status?.startTime ?? timestamp(nowMs),
    containerStatuses: containersOf(pod).map((container) => containerStatus(pod, container, state)),
  };
  return withConditions(base, { Initialized: true, Ready: false, ContainersReady: false }, nowMs, 'ContainersNotReady');
}

export function runningStatus(pod: KubeObject, podIP: string, hostIP: string, nowMs: number): Fields {
  const state = { running: { startedAt: timestamp(nowMs) } };
  const base = {
    ...pod.status,
    phase: 'Running',
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: pod.status?.startTime ?? timestamp(nowMs),
    containerStatuses: containersOf(pod).map((container) => containerStatus(pod, container, state)),
  };
  const conditions = { PodReadyToStartContainers: true, Initialized: true, Ready: true, ContainersReady: true };
  return withConditions(base, conditions, nowMs);
}

/** One container in a new state; the pod is ready when all its containers run. */
export function withContainer(
  pod: KubeObject,
  name: string,
  state: ContainerState,
  nowMs: number,
  more: Fields = {},
): Fields {
  const containerStatuses = containersOf(pod).map((container) => {
    const before = statusesOf(pod).find((one) => one.name === container.name);
    return container.name === name || !before ? containerStatus(pod, container, state, more) : before;
  });
  const isReady = containerStatuses.every(({ ready }) => ready === true);
  const status = { ...pod.status, containerStatuses };
  return withConditions(status, { Ready: isReady, ContainersReady: isReady }, nowMs, 'ContainersNotReady');
}

export const terminated = (exitCode: number, startedAt: unknown, nowMs: number, message?: string): ContainerState => ({
  terminated: compact({
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    message,
    startedAt: textOf(startedAt) || timestamp(nowMs),
    finishedAt: timestamp(nowMs),
  }),
});

/** After the last container has ended for good. */
export function endedStatus(status: Fields, nowMs: number): Fields {
  const codes = listOf(status.containerStatuses).map(
    (one) => fieldsOf(fieldsOf(fieldsOf(one).state).terminated).exitCode,
  );
  const phase = codes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
  const reason = phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
  return withConditions({ ...status, phase }, { Ready: false, ContainersReady: false }, nowMs, reason);
}

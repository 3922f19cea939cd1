// Scheduler and kubelet in one: brings every pod from Pending to its end, on the clock.
import type { Fields, KubeObject } from '../objects/object.ts';
import { fieldsOf, isSame, textOf, timestamp } from '../objects/object.ts';
import type { World } from '../world.ts';
import { type EventText, openRecorder } from './events.ts';
import type { Nodes } from './nodes.ts';
import { openRules, type PodRule, type PodRules } from './rules.ts';
import { type PodRunner, thoughtRunner } from './runner.ts';
import { place } from './scheduler.ts';
import {
  conditionOf,
  containersOf,
  endedStatus,
  runningStatus,
  statusesOf,
  terminated,
  waitingStatus,
  withCondition,
  withContainer,
} from './status.ts';
import { missingVariable, missingVolume } from './volumes.ts';

const STORAGE = '/pods';
const NODE_STORAGE = '/nodes';
const ENDED = new Set(['Succeeded', 'Failed']);
const SIGKILLED = 137;
const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 300_000;

/** What the kubelet remembers of a pod. */
interface Kept {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly name: string;
  placedMs: number;
  isStarted: boolean;
  isEnding: boolean;
  cancel: () => void;
}

export interface Kubelet {
  readonly rules: PodRules;
  /** A container ends by itself. */
  exit(namespace: string, name: string, exitCode: number, container?: string): void;
  /** The node needs the room: the pod fails. */
  evict(namespace: string, name: string, message: string): void;
  /** Looks at all pods again: nodes or rules have changed. */
  lookAtAll(): void;
}

export interface KubeletOptions {
  readonly world: World;
  readonly nodes: Nodes;
  readonly runner?: PodRunner | undefined;
}

export function runKubelet({ world, nodes, runner: given }: KubeletOptions): Kubelet {
  const { store, clock, behaviour } = world;
  const all = new Map<string, Kept>();
  const record = openRecorder(world);
  const rules = openRules(() => lookAtAll());
  const runner =
    given ?? thoughtRunner((pod, graceMs) => clock.sleep(Math.min(graceMs, rules.of(pod).stopMs ?? behaviour.stopMs)));

  const current = ({ namespace, name, uid }: Kept): KubeObject | undefined => {
    const pod = store.get(STORAGE, namespace, name);
    return pod?.metadata.uid === uid ? pod : undefined;
  };

  function write(pod: KubeObject, status: Fields, spec = pod.spec): KubeObject {
    if (isSame(status, pod.status) && spec === pod.spec) return pod;
    return store.replace(STORAGE, { ...pod, ...(spec ? { spec } : {}), status });
  }

  const say = (
    pod: KubeObject,
    type: EventText['type'],
    reason: string,
    message: string,
    component = 'kubelet',
  ): void => record(pod, { type, reason, message, component });

  function wake(kept: Kept, ms: number): void {
    kept.cancel();
    kept.cancel = clock.alarm(Math.max(0, ms), () => look(kept));
  }

  function bind(kept: Kept, pod: KubeObject, rule: PodRule): void {
    const wanted = textOf(pod.spec?.nodeName);
    const found =
      wanted !== ''
        ? { node: wanted }
        : rule.unschedulable === undefined
          ? place(pod, nodes.occupied())
          : { message: rule.unschedulable };
    const nowMs = clock.now();
    if ('message' in found) {
      if (conditionOf(pod, 'PodScheduled')?.message === found.message) return;
      const why = { reason: 'Unschedulable', message: found.message };
      const made = write(pod, withCondition({ ...pod.status, phase: 'Pending' }, 'PodScheduled', false, nowMs, why));
      return say(made, 'Warning', 'FailedScheduling', found.message, 'default-scheduler');
    }
    kept.placedMs = nowMs;
    const status = withCondition({ ...pod.status, phase: 'Pending' }, 'PodScheduled', true, nowMs);
    const made = write(pod, status, { ...pod.spec, nodeName: found.node });
    const title = `${pod.metadata.namespace}/${pod.metadata.name}`;
    say(made, 'Normal', 'Scheduled', `Successfully assigned ${title} to ${found.node}`, 'default-scheduler');
    wake(kept, 0);
  }

  /** The first thing that keeps the containers from starting. */
  function obstacle(
    pod: KubeObject,
    rule: PodRule,
  ): { reason: string; message?: string; event?: [string, string] } | undefined {
    const volume = missingVolume(world, pod);
    if (volume !== undefined) return { reason: 'ContainerCreating', event: ['FailedMount', volume] };
    if (rule.pullError !== undefined) {
      const image = textOf(containersOf(pod)[0]?.image);
      const before = textOf(fieldsOf(fieldsOf(statusesOf(pod)[0]?.state).waiting).reason);
      const isFirst = before === '' || before === 'ContainerCreating';
      return isFirst
        ? {
            reason: 'ErrImagePull',
            message: rule.pullError,
            event: ['Failed', `Failed to pull image "${image}": ${rule.pullError}`],
          }
        : {
            reason: 'ImagePullBackOff',
            message: `Back-off pulling image "${image}": ErrImagePull: ${rule.pullError}`,
            event: ['BackOff', `Back-off pulling image "${image}"`],
          };
    }
    const config = rule.configError ?? missingVariable(world, pod);
    return config === undefined
      ? undefined
      : { reason: 'CreateContainerConfigError', message: config, event: ['Failed', `Error: ${config}`] };
  }

  async function begin(kept: Kept, pod: KubeObject): Promise<void> {
    kept.isStarted = true;
    const podIP = await runner.start(pod, (container, code) => ended(kept, container, code));
    const now = current(kept);
    if (!now || kept.isEnding) return;
    const made = write(now, runningStatus(now, podIP, nodes.addressOf(textOf(now.spec?.nodeName)), clock.now()));
    for (const container of containersOf(made)) {
      say(made, 'Normal', 'Started', `Started container ${textOf(container.name)}`);
    }
    planExit(kept, made);
  }

  function planExit(kept: Kept, pod: KubeObject): void {
    const { exits } = rules.of(pod);
    if (!exits) return;
    const [first] = containersOf(pod);
    kept.cancel();
    kept.cancel = clock.alarm(exits.afterMs, () => ended(kept, textOf(first?.name), exits.code));
  }

  function prepare(kept: Kept, pod: KubeObject, rule: PodRule): void {
    const nowMs = clock.now();
    if (kept.placedMs === 0) kept.placedMs = nowMs;
    const waitMs = kept.placedMs + (rule.startMs ?? behaviour.startMs) - nowMs;
    const found = obstacle(pod, rule);
    if (found) {
      const made = write(pod, waitingStatus(pod, found.reason, found.message, nowMs));
      if (found.event) say(made, 'Warning', ...found.event);
      return wake(kept, behaviour.retryMs);
    }
    if (waitMs > 0) {
      write(pod, waitingStatus(pod, 'ContainerCreating', undefined, nowMs));
      return wake(kept, waitMs);
    }
    void begin(kept, pod);
  }

  /** The pod as it is last seen. */
  function lastForm(pod: KubeObject, wasStarted: boolean, exitCode = 0): KubeObject {
    const nowMs = clock.now();
    const metadata = { ...pod.metadata, deletionGracePeriodSeconds: 0, deletionTimestamp: timestamp(nowMs) };
    if (!wasStarted) return { ...pod, metadata };
    let ended = pod;
    for (const { name } of containersOf(pod)) {
      ended = { ...ended, status: withContainer(ended, textOf(name), terminated(exitCode, undefined, nowMs), nowMs) };
    }
    return { ...pod, metadata, status: endedStatus(fieldsOf(ended.status), nowMs) };
  }

  /** Ends the containers, then removes the pod, unless finalizers hold it. */
  async function end(kept: Kept, pod: KubeObject): Promise<void> {
    kept.isEnding = true;
    kept.cancel();
    if (kept.isStarted) {
      for (const { name } of containersOf(pod)) say(pod, 'Normal', 'Killing', `Stopping container ${textOf(name)}`);
      await runner.stop(pod, Math.max(0, Date.parse(pod.metadata.deletionTimestamp ?? '') - clock.now()));
    }
    const last = current(kept);
    if (!last) return;
    const final = lastForm(last, kept.isStarted);
    if ((last.metadata.finalizers ?? []).length > 0) store.replace(STORAGE, final);
    else store.remove(STORAGE, final);
  }

  function look(kept: Kept): void {
    const pod = current(kept);
    if (!pod || kept.isEnding || nodes.isDead(textOf(pod.spec?.nodeName))) return;
    if (pod.metadata.deletionTimestamp !== undefined) return void end(kept, pod);
    if (kept.isStarted || ENDED.has(textOf(pod.status?.phase))) return;
    const rule = rules.of(pod);
    if (conditionOf(pod, 'PodScheduled')?.status === 'True') return prepare(kept, pod, rule);
    bind(kept, pod, rule);
  }

  function backOffMs(restarts: number): number {
    return restarts < 1 ? 0 : Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (restarts - 1));
  }

  async function again(kept: Kept, container: string, restarts: number): Promise<void> {
    const pod = current(kept);
    if (!pod || kept.isEnding) return;
    await runner.restart(pod, container);
    const now = current(kept);
    if (!now || kept.isEnding) return;
    const nowMs = clock.now();
    const state = { running: { startedAt: timestamp(nowMs) } };
    const made = write(now, withContainer(now, container, state, nowMs, { restartCount: restarts + 1 }));
    say(made, 'Normal', 'Started', `Started container ${container}`);
    planExit(kept, made);
  }

  /** A container has ended: it is started again, or the pod ends, as its restart policy says. */
  function ended(kept: Kept, container: string, exitCode: number): void {
    const pod = current(kept);
    if (!pod || kept.isEnding || ENDED.has(textOf(pod.status?.phase))) return;
    const nowMs = clock.now();
    const before = statusesOf(pod).find(({ name }) => name === container);
    const startedAt = fieldsOf(fieldsOf(before?.state).running).startedAt;
    const { message } = rules.of(pod).exits ?? {};
    const status = withContainer(pod, container, terminated(exitCode, startedAt, nowMs, message), nowMs);
    const policy = pod.spec?.restartPolicy;
    if (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0)) {
      const isOver = statusesOf({ ...pod, status }).every(({ state }) => fieldsOf(state).terminated !== undefined);
      write(pod, isOver ? endedStatus(status, nowMs) : status);
      return;
    }
    const made = write(pod, status);
    const restarts = Number(before?.restartCount ?? 0);
    const waitMs = backOffMs(restarts);
    if (waitMs > 0) {
      const message = `back-off ${waitMs / 1_000}s restarting failed container=${container} pod=${pod.metadata.name}`;
      write(made, withContainer(made, container, { waiting: { reason: 'CrashLoopBackOff', message } }, nowMs));
      say(made, 'Warning', 'BackOff', message);
    }
    kept.cancel = clock.alarm(waitMs, () => void again(kept, container, restarts));
  }

  function hear(pod: KubeObject): void {
    const { uid, namespace, name } = pod.metadata;
    const kept = all.get(uid) ?? {
      uid,
      namespace,
      name,
      placedMs: 0,
      isStarted: false,
      isEnding: false,
      cancel: () => {},
    };
    const isNew = !all.has(uid);
    all.set(uid, kept);
    // Never at once: this is called while others still hear of the change.
    if (isNew) wake(kept, behaviour.scheduleMs);
    else if (pod.metadata.deletionTimestamp !== undefined && !kept.isEnding) wake(kept, 0);
  }

  function lookAtAll(): void {
    for (const kept of [...all.values()]) look(kept);
  }

  /** Room may have appeared. */
  function placeWaiting(): void {
    for (const kept of all.values()) if (kept.placedMs === 0) wake(kept, behaviour.scheduleMs);
  }

  store.watch(({ type, storage, object }) => {
    if (storage === NODE_STORAGE) return placeWaiting();
    if (storage !== STORAGE) return;
    if (type !== 'DELETED') return hear(object);
    const kept = all.get(object.metadata.uid);
    all.delete(object.metadata.uid);
    kept?.cancel();
    if (kept?.isStarted && !kept.isEnding) void runner.stop(object, 0).then(() => runner.forget(object));
    else if (kept) runner.forget(object);
    placeWaiting();
  });

  const keptOf = (namespace: string, name: string): Kept | undefined =>
    all.get(store.get(STORAGE, namespace, name)?.metadata.uid ?? '');

  async function evict(kept: Kept, message: string): Promise<void> {
    const pod = current(kept);
    if (!pod || kept.isEnding) return;
    kept.isEnding = true;
    kept.cancel();
    say(pod, 'Warning', 'Evicted', message);
    await runner.stop(pod, 0);
    const last = current(kept);
    if (!last) return;
    const why = { reason: 'TerminationByKubelet', message };
    const status = fieldsOf(lastForm(last, true, SIGKILLED).status);
    const made = withCondition(status, 'DisruptionTarget', true, clock.now(), why);
    write(last, { ...made, phase: 'Failed', reason: 'Evicted', message });
  }

  return {
    rules,
    lookAtAll,
    evict(namespace, name, message) {
      const kept = keptOf(namespace, name);
      if (kept) void evict(kept, message);
    },
    exit(namespace, name, exitCode, container) {
      const pod = store.get(STORAGE, namespace, name);
      const kept = keptOf(namespace, name);
      if (pod && kept) ended(kept, container ?? textOf(containersOf(pod)[0]?.name), exitCode);
    },
  };
}

// What takes pods away from outside: pressure on a node, pods of higher priority, the death of a node.
import { disrupt } from '../access/subresources.ts';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf, timestamp } from '../objects/object.ts';
import type { World } from '../world.ts';
import { removeObject } from '../writes/delete.ts';
import { openRecorder } from './events.ts';
import type { Kubelet } from './kubelet.ts';
import type { Nodes } from './nodes.ts';
import { withCondition } from './status.ts';

export interface Disruptions {
  /** The kubelet needs the room: the pod fails as Evicted. */
  evict(namespace: string, name: string, message?: string): void;
  /** The scheduler needs the room: the pod is deleted with its grace. */
  preempt(namespace: string, name: string): void;
  /** Its kubelet falls silent: unknown after 40 s, its pods are deleted after 5 minutes and cannot end. */
  killNode(node: string): void;
  reviveNode(node: string): void;
}

const LOW_MEMORY = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. ';
const MONITOR_GRACE_MS = 40_000;
const TOLERATED_MS = 300_000;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const PLAIN = { graceSeconds: undefined, propagation: undefined };

export function openDisruptions(world: World, nodes: Nodes, kubelet: Kubelet): Disruptions {
  const { store, clock, registry } = world;
  const record = openRecorder(world);
  const alarms = new Map<string, (() => void)[]>();

  const podsOn = (node: string): KubeObject[] =>
    store.list('/pods').filter(({ spec, status }) => spec?.nodeName === node && status?.phase === 'Running');

  function remove(pod: KubeObject): void {
    const resource = registry.byStorage('', 'pods');
    if (resource) removeObject(world, resource, pod, PLAIN);
  }

  function setNode(name: string, status: (status: Fields) => Fields, taints: readonly unknown[]): void {
    const node = store.get('/nodes', undefined, name);
    if (!node) return;
    const others = listOf(node.spec?.taints).filter((taint) => fieldsOf(taint).key !== UNREACHABLE);
    const spec = { ...node.spec, taints: [...others, ...taints] };
    store.replace('/nodes', { ...node, spec, status: status(fieldsOf(node.status)) });
  }

  function setReady(node: string, isReady: boolean): void {
    for (const pod of podsOn(node)) {
      const why = isReady ? {} : { reason: 'NodeNotReady', message: 'Node is not ready' };
      store.replace('/pods', {
        ...pod,
        status: withCondition(fieldsOf(pod.status), 'Ready', isReady, clock.now(), why),
      });
      if (!isReady) {
        record(pod, {
          type: 'Warning',
          reason: 'NodeNotReady',
          message: 'Node is not ready',
          component: 'node-controller',
        });
      }
    }
  }

  function markUnknown(node: string): void {
    const why = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
    const timeAdded = timestamp(clock.now());
    const taints = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: UNREACHABLE, effect, timeAdded }));
    setNode(node, (status) => withCondition(status, 'Ready', 'Unknown', clock.now(), why), taints);
    setReady(node, false);
  }

  function deletePods(node: string): void {
    for (const pod of podsOn(node)) {
      remove(disrupt(world, pod, 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint'));
    }
  }

  return {
    evict: (namespace, name, message = LOW_MEMORY) => kubelet.evict(namespace, name, message),
    preempt(namespace, name) {
      const pod = store.get('/pods', namespace, name);
      if (!pod) return;
      const message = 'default-scheduler: preempting to accommodate a higher priority pod';
      record(pod, {
        type: 'Normal',
        reason: 'Preempted',
        message: `Preempted by a pod on node ${textOf(pod.spec?.nodeName)}`,
        component: 'default-scheduler',
      });
      remove(disrupt(world, pod, 'PreemptionByScheduler', message));
    },
    killNode(node) {
      nodes.setDead(node, true);
      alarms.set(node, [
        clock.alarm(MONITOR_GRACE_MS, () => markUnknown(node)),
        clock.alarm(MONITOR_GRACE_MS + TOLERATED_MS, () => deletePods(node)),
      ]);
    },
    reviveNode(node) {
      for (const cancel of alarms.get(node) ?? []) cancel();
      nodes.setDead(node, false);
      const why = { reason: 'KubeletReady', message: 'kubelet is posting ready status' };
      setNode(node, (status) => withCondition(status, 'Ready', true, clock.now(), why), []);
      setReady(node, true);
      kubelet.lookAtAll();
    },
  };
}

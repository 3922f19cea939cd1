import { type KubeObject, textOf, timestamp } from '../objects/object.ts';
import { newUid } from '../objects/uid.ts';
import type { World } from '../world.ts';
import { requestsOf } from './asked.ts';
import { repelsOthers } from './neighbours.ts';
import type { Occupied } from './scheduler.ts';

export interface NodeDraft {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly allocatable?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[] | undefined;
}

export interface Nodes {
  add(draft: NodeDraft): void;
  /** As the scheduler sees them. */
  occupied(): Occupied;
  addressOf(node: string): string;
  /** Whether its kubelet does nothing any more. */
  isDead(node: string): boolean;
  setDead(node: string, isDead: boolean): void;
}

const STORAGE = '/nodes';
const ROOM = { cpu: '64', memory: '256Gi', pods: '110', 'ephemeral-storage': '200Gi' };

function nodeObject({ clock, random }: World, draft: NodeDraft, index: number): KubeObject {
  const { name, labels, allocatable = ROOM, taints } = draft;
  const time = timestamp(clock.now());
  const address = `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
  const capacity = { ...ROOM, ...allocatable };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: newUid(random),
      resourceVersion: '',
      creationTimestamp: time,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...labels,
      },
    },
    spec: taints ? { taints } : {},
    status: {
      capacity,
      allocatable: capacity,
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          lastHeartbeatTime: time,
          lastTransitionTime: time,
          reason: 'KubeletReady',
          message: 'kubelet is posting ready status',
        },
      ],
      nodeInfo: { kubeletVersion: 'v1.32.4', operatingSystem: 'linux', architecture: 'amd64' },
    },
  };
}

export function openNodes(world: World): Nodes {
  const { store } = world;
  const used = new Map<string, Record<string, number>>();
  /** By node, then by uid. */
  const pods = new Map<string, Map<string, KubeObject>>();
  const repelling = new Set<string>();
  const dead = new Set<string>();
  let count = 0;

  function tally(pod: KubeObject | undefined, sign: 1 | -1): void {
    const node = textOf(pod?.spec?.nodeName);
    if (!pod || node === '' || ['Succeeded', 'Failed'].includes(textOf(pod.status?.phase))) return;
    const { uid } = pod.metadata;
    const sums = used.get(node) ?? {};
    used.set(node, sums);
    for (const [name, asked] of Object.entries(requestsOf(pod))) sums[name] = (sums[name] ?? 0) + sign * asked;
    const there = pods.get(node) ?? new Map<string, KubeObject>();
    pods.set(node, there);
    if (sign === 1) there.set(uid, pod);
    else there.delete(uid);
    if (sign === 1 && repelsOthers(pod)) repelling.add(uid);
    else repelling.delete(uid);
  }

  store.watch(({ type, storage, object, previous }) => {
    if (storage !== '/pods') return;
    tally(previous, -1);
    if (type !== 'DELETED') tally(object, 1);
  });

  return {
    add(draft) {
      count += 1;
      store.add(STORAGE, nodeObject(world, draft, count));
    },
    occupied: () => ({
      nodes: store.list(STORAGE),
      usedOn: (node) => used.get(node) ?? {},
      podsOn: (node) => [...(pods.get(node)?.values() ?? [])],
      isAnyRepelling: () => repelling.size > 0,
    }),
    addressOf(node) {
      const found = store.get(STORAGE, undefined, node)?.status?.addresses;
      return Array.isArray(found) ? textOf((found[0] as { address?: unknown }).address) : '';
    },
    isDead: (node) => dead.has(node),
    setDead(node, isDead) {
      if (isDead) dead.add(node);
      else dead.delete(node);
    },
  };
}

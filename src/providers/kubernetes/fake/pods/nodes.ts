import { type KubeObject, textOf, timestamp } from '../objects/object.ts';
import { newUid } from '../objects/uid.ts';
import type { World } from '../world.ts';
import { type Amounts, requestsOf } from './scheduler.ts';

export interface NodeDraft {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly allocatable?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[] | undefined;
}

export interface Nodes {
  all(): readonly KubeObject[];
  add(draft: NodeDraft): void;
  usedOn(node: string): Amounts;
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
  const dead = new Set<string>();
  let count = 0;

  function tally(pod: KubeObject | undefined, sign: 1 | -1): void {
    const node = textOf(pod?.spec?.nodeName);
    if (!pod || node === '' || ['Succeeded', 'Failed'].includes(textOf(pod.status?.phase))) return;
    const sums = used.get(node) ?? {};
    used.set(node, sums);
    for (const [name, asked] of Object.entries(requestsOf(pod))) sums[name] = (sums[name] ?? 0) + sign * asked;
  }

  store.watch(({ type, storage, object, previous }) => {
    if (storage !== '/pods') return;
    tally(previous, -1);
    if (type !== 'DELETED') tally(object, 1);
  });

  return {
    all: () => store.list(STORAGE),
    add(draft) {
      count += 1;
      store.add(STORAGE, nodeObject(world, draft, count));
    },
    usedOn: (node) => used.get(node) ?? {},
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

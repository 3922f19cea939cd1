// What a watcher beside both sees of pods and nodes: when the scheduler refused a pod, where it was bound, what was asked for.
import { systemClock } from '#core/clock.ts';
import type { KubeApi } from './kube-api.ts';

export interface FollowedPod {
  readonly uid: string;
  readonly fleet: string;
  refusedAtMs?: number;
  node?: string;
  boundAtMs?: number;
  isGone?: true;
}

export interface FollowedPods {
  /** By uid, all that have ever been. */
  readonly pods: ReadonlyMap<string, FollowedPod>;
  /** By name, when Karpenter wrote its claim for a node. */
  readonly claimedAtMs: ReadonlyMap<string, number>;
  /** Names of nodes by fleet, those that are there. */
  nodesOf(fleet: string): readonly string[];
  /** Pods of a fleet that are there and that no node has. */
  unboundOf(fleet: string): number;
}

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
}
interface Pod {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName?: string };
  readonly status?: { readonly conditions?: readonly { type: string; status: string; reason?: string }[] };
}
interface Claim {
  readonly metadata: Metadata;
  readonly status?: { readonly nodeName?: string };
}

/** Of pods and nodes with the label `fleet`. */
export function followPodsOfFleets(api: KubeApi, hasClaims: boolean): FollowedPods {
  const pods = new Map<string, FollowedPod>();
  const nodes = new Map<string, string>();
  const [seenAtMs, claimedAtMs] = [new Map<string, number>(), new Map<string, number>()];
  const now = (): number => systemClock.now();

  api.watch('/api/v1/pods?labelSelector=fleet', (type, { metadata: { uid, labels }, spec, status }: Pod) => {
    const pod: FollowedPod = pods.get(uid) ?? { uid, fleet: labels?.fleet ?? '' };
    pods.set(uid, pod);
    if (type === 'DELETED') pod.isGone = true;
    if (spec.nodeName !== undefined && pod.node === undefined) {
      pod.node = spec.nodeName;
      pod.boundAtMs = now();
    }
    const isRefused = status?.conditions?.some((one) => one.type === 'PodScheduled' && one.reason === 'Unschedulable');
    if (isRefused) pod.refusedAtMs ??= now();
  });
  api.watch('/api/v1/nodes?labelSelector=fleet', (type, { metadata: { name, labels } }: Pod) => {
    if (type === 'DELETED') nodes.delete(name);
    else nodes.set(name, labels?.fleet ?? '');
  });
  if (hasClaims) {
    api.watch('/apis/karpenter.sh/v1/nodeclaims', (_type, { metadata: { name }, status }: Claim) => {
      const atMs = seenAtMs.get(name) ?? now();
      seenAtMs.set(name, atMs);
      if (status?.nodeName) claimedAtMs.set(status.nodeName, atMs);
    });
  }

  return {
    pods,
    claimedAtMs,
    nodesOf: (fleet) => [...nodes].flatMap(([name, of]) => (of === fleet ? [name] : [])),
    unboundOf: (fleet) =>
      [...pods.values()].filter((pod) => pod.fleet === fleet && !pod.isGone && pod.node === undefined).length,
  };
}

// What is written on nodes. `spec.taints` is an atomic list (core/v1 `+listType=atomic`): whoever writes it writes all of
// it, so a write without the version that was read drops what others wrote meanwhile.
import type { Gate } from '#clouds/gate.ts';
import { Fault } from '#core/fault.ts';
import type { NodeTaint } from '#core/node-group.ts';
import type { Kube } from '#kube/client.ts';
import type { Evicted } from '#kube/eviction.ts';
import { statusOf } from '#kube/faults.ts';
import type { KubeObject } from '#kube/object.ts';
import { NODES, PODS } from '#kube/resource.ts';
import { type NodeFact, nodeFactOf, type PodFact } from './cluster-objects.ts';
import { CORDONED, DELETION_REASON, DELETION_TAINT, KEPT_IDLE_TAINT } from './objects.ts';

export interface NodeWritesDeps {
  readonly kube: Kube;
  readonly gate: Gate;
  /** What shares the rate budget of the API server. */
  readonly account: string;
}

export interface NodeWrites {
  taint(node: NodeFact, deletionAt: number, reason: string, signal: AbortSignal): Promise<void>;
  /** Pods should rather go to other nodes. */
  keepIdle(node: NodeFact, signal: AbortSignal): Promise<void>;
  /** Takes our taints off, and lets pods in again where it was us who did not. */
  untaint(node: NodeFact, signal: AbortSignal): Promise<void>;
  cordon(node: NodeFact, signal: AbortSignal): Promise<void>;
  /** Asks for the pod to go, within its budget. One made anew under its name stays. */
  evict(node: NodeFact, pod: PodFact, signal: AbortSignal): Promise<Evicted>;
  /** The pods that are bound to it, asked of the API server itself. */
  podsOn(node: NodeFact, signal: AbortSignal): Promise<readonly PodFact[]>;
}

const TIMEOUT_MS = 30_000;
/** Each try loses only to another writer who won. */
const MOST_TRIES = 50;

export interface NodePatch {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}
type Change = (now: NodeFact) => NodePatch | undefined;

/** False: somebody else has written the node since it was read. */
async function tryPatch(
  kube: Kube,
  now: NodeFact,
  { metadata = {}, ...rest }: NodePatch,
  signal: AbortSignal,
): Promise<boolean> {
  const merge = { ...rest, metadata: { ...metadata, resourceVersion: now.resourceVersion } };
  try {
    await kube.patch(NODES, { name: now.name }, { merge }, signal);
    return true;
  } catch (thrown) {
    if (statusOf(thrown)?.code !== 409) throw thrown;
    return false;
  }
}

/** The node as it is; undefined: it is gone, or is another one of that name. */
async function readAgain(kube: Kube, { name, uid }: NodeFact, signal: AbortSignal): Promise<NodeFact | undefined> {
  const found = await kube.get(NODES, { name }, signal);
  return found?.metadata.uid === uid ? nodeFactOf(found) : undefined;
}

/** Writes what `change` makes of the node as it is; nothing where that is nothing. */
export async function writeNode(kube: Kube, node: NodeFact, change: Change, signal: AbortSignal): Promise<void> {
  let now: NodeFact | undefined = node;
  for (let tries = 0; now && tries < MOST_TRIES; tries++) {
    const patch = change(now);
    if (!patch || (await tryPatch(kube, now, patch, signal))) return;
    now = await readAgain(kube, node, signal);
  }
  if (now) throw new Fault('stale', `The node ${node.name} is written by others all the time.`);
}

const OURS = [DELETION_TAINT, KEPT_IDLE_TAINT];

/** Without our taints, and open for pods again where it was us who cordoned it; undefined: it has nothing of ours. */
export function withoutOurs({ taints, cordonedByUs }: NodeFact): NodePatch | undefined {
  const others = taints.filter(({ key }) => !OURS.includes(key));
  if (others.length === taints.length && !cordonedByUs) return undefined;
  const annotations = { [DELETION_REASON]: null, [CORDONED]: null };
  return { spec: { taints: others, ...(cordonedByUs && { unschedulable: null }) }, metadata: { annotations } };
}

export function openNodeWrites(
  { kube, gate, account }: NodeWritesDeps,
  read: (object: KubeObject) => PodFact,
): NodeWrites {
  function call<T>(
    name: string,
    node: NodeFact,
    is: 'read' | 'write',
    signal: AbortSignal,
    run: (s: AbortSignal) => Promise<T>,
  ) {
    return gate.call({ name, is, account, owner: node.provisioner, timeoutMs: TIMEOUT_MS, signal }, run);
  }

  const edit = (name: string, node: NodeFact, change: Change, signal: AbortSignal): Promise<void> =>
    call(name, node, 'write', signal, (ending) => writeNode(kube, node, change, ending));

  return {
    taint: (node, deletionAt, reason, signal) =>
      edit(
        'taint',
        node,
        ({ taints }) => {
          if (taints.some(({ key }) => key === DELETION_TAINT)) return undefined;
          const value = String(Math.ceil(deletionAt / 1_000));
          const ours: NodeTaint = { key: DELETION_TAINT, value, effect: 'NoSchedule' };
          return { spec: { taints: [...taints, ours] }, metadata: { annotations: { [DELETION_REASON]: reason } } };
        },
        signal,
      ),
    keepIdle: (node, signal) =>
      edit(
        'taint',
        node,
        ({ taints, isKeptIdle }) =>
          isKeptIdle
            ? undefined
            : { spec: { taints: [...taints, { key: KEPT_IDLE_TAINT, effect: 'PreferNoSchedule' }] } },
        signal,
      ),
    untaint: (node, signal) => edit('untaint', node, withoutOurs, signal),
    cordon: (node, signal) =>
      edit(
        'cordon',
        node,
        ({ isCordoned }) =>
          isCordoned ? undefined : { spec: { unschedulable: true }, metadata: { annotations: { [CORDONED]: 'true' } } },
        signal,
      ),
    evict: (node, { key, uid }, signal) =>
      call('evict', node, 'write', signal, async (ending) => {
        const [namespace = '', name = ''] = key.split('/');
        try {
          return await kube.evict({ namespace, name }, { uid }, ending);
        } catch (thrown) {
          // Another pod has its name by now.
          if (statusOf(thrown)?.code === 409) return 'gone';
          throw thrown;
        }
      }),
    podsOn: (node, signal) =>
      call('list pods', node, 'read', signal, async (ending) => {
        const found = await kube.list(PODS, { fieldSelector: `spec.nodeName=${node.name}` }, ending);
        return found.map((object) => read(object));
      }),
  };
}

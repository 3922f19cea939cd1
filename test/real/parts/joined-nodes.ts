// Joins the simulated Compute Engine with a real control plane: an instance that runs becomes a node that kwok plays, and
// the node goes with its instance.
import { systemClock } from '#core/clock.ts';
import { type FakeInstance, isGone, statusAt } from '../../../src/providers/gcp/fake/compute/instance.ts';
import type { ComputeState } from '../../../src/providers/gcp/fake/compute/state.ts';
import type { KubeApi } from './kube-api.ts';
import { playedNode } from './kwok.ts';

export const POOL_LABEL = 'nodeprovisioner.compute.baseten.co/provisioner-name';

export interface JoinOptions {
  /** Of the machine's node; undefined: it never becomes one. */
  nodeOf(
    instance: FakeInstance,
  ): { readonly labels: Readonly<Record<string, string>>; readonly gpus: number } | undefined;
  /** What went wrong. */
  failed(error: unknown): void;
}

export interface JoinedNodes {
  /** The names of those that are nodes now. */
  readonly names: ReadonlySet<string>;
  stop(): void;
}

const AFTER_MS = 100;

export function joinNodes(compute: ComputeState, api: KubeApi, { nodeOf, failed }: JoinOptions): JoinedNodes {
  const joined = new Map<string, FakeInstance>();
  const names = new Set<string>();
  let cancel = (): void => {};

  async function add(instance: FakeInstance): Promise<void> {
    const wanted = nodeOf(instance);
    if (!wanted) return;
    const { labels, gpus } = wanted;
    const room = {
      cpu: '208',
      memory: '1800Gi',
      pods: '110',
      'ephemeral-storage': '6000Gi',
      'nvidia.com/gpu': `${gpus}`,
    };
    const node = playedNode(instance.name, { labels, allocatable: room }) as { readonly spec: object };
    const providerID = `gce://${instance.project}/${instance.zone}/${instance.name}`;
    await api.ask('POST', '/api/v1/nodes', { ...node, spec: { ...node.spec, providerID } });
    names.add(instance.name);
  }

  async function remove({ name }: FakeInstance): Promise<void> {
    await api.call('DELETE', `/api/v1/nodes/${name}`);
    names.delete(name);
  }

  async function look(): Promise<void> {
    const now = systemClock.now();
    const fresh = compute.instances.filter(
      (one) => statusAt(one, now) === 'RUNNING' && joined.get(one.name)?.id !== one.id,
    );
    const gone = [...joined.values()].filter((one) => isGone(one, now) && joined.get(one.name) === one);
    for (const one of gone) joined.delete(one.name);
    for (const one of fresh) joined.set(one.name, one);
    await Promise.all([...gone.map(remove), ...fresh.map(add)]);
  }

  function again(): void {
    cancel = systemClock.alarm(AFTER_MS, () => void look().catch(failed).then(again));
  }
  again();
  return { names, stop: () => cancel() };
}

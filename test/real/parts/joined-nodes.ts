// Joins a simulated cloud with a real control plane: a machine that runs becomes a node that kwok plays, and the node goes
// with its machine.
import { systemClock } from '#core/clock.ts';
import type { KubeApi } from './kube-api.ts';
import { playedNode } from './kwok.ts';

export const POOL_LABEL = 'nodeprovisioner.compute.baseten.co/provisioner-name';

/** A machine of a simulated cloud, as far as its node depends on it. */
export interface JoiningMachine {
  readonly id: string;
  readonly name: string;
  readonly providerId: string;
  readonly state: 'running' | 'gone' | 'other';
}

export interface JoinOptions {
  /** All that ever were. */
  machines(nowMs: number): readonly JoiningMachine[];
  readonly node: { readonly labels: Readonly<Record<string, string>>; readonly gpus: number };
  /** What went wrong. */
  failed(error: unknown): void;
}

export interface JoinedNodes {
  /** The names of those that are nodes now. */
  readonly names: ReadonlySet<string>;
  stop(): void;
}

const AFTER_MS = 100;

export function joinNodes(api: KubeApi, { machines, node: { labels, gpus }, failed }: JoinOptions): JoinedNodes {
  const joined = new Map<string, JoiningMachine>();
  const names = new Set<string>();
  let cancel = (): void => {};

  async function add({ name, providerId: providerID }: JoiningMachine): Promise<void> {
    const room = {
      cpu: '208',
      memory: '1800Gi',
      pods: '110',
      'ephemeral-storage': '6000Gi',
      'nvidia.com/gpu': `${gpus}`,
    };
    const node = playedNode(name, { labels, allocatable: room }) as { readonly spec: object };
    await api.ask('POST', '/api/v1/nodes', { ...node, spec: { ...node.spec, providerID } });
    names.add(name);
  }

  async function remove({ name }: JoiningMachine): Promise<void> {
    await api.call('DELETE', `/api/v1/nodes/${name}`);
    names.delete(name);
  }

  async function look(): Promise<void> {
    const all = machines(systemClock.now());
    const fresh = all.filter(({ state, name, id }) => state === 'running' && joined.get(name)?.id !== id);
    const gone = all.filter(({ state, name, id }) => state === 'gone' && joined.get(name)?.id === id);
    for (const { name } of gone) joined.delete(name);
    for (const one of fresh) joined.set(one.name, one);
    await Promise.all([...gone.map(remove), ...fresh.map(add)]);
  }

  function again(): void {
    cancel = systemClock.alarm(AFTER_MS, () => void look().catch(failed).then(again));
  }
  again();
  return { names, stop: () => cancel() };
}

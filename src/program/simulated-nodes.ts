// Makes the machines of a simulated cloud nodes of a cluster on this computer, as their kubelets would, without a kubelet:
// what runs on them runs where that cluster plays it.
import { withDeadline } from '#clouds/deadline.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import type { SimulatedNode, SimulatedNodes } from '#core/simulation.ts';
import { type Kube, openKube } from '#kube/client.ts';
import { openKubeconfig } from '#kube/kubeconfig.ts';
import type { KubeObject } from '#kube/object.ts';
import { NODES } from '#kube/resource.ts';
import { fetchWith } from '../edge/fetch-with.ts';

/** On each node that was made here, with the cloud as its value: no other node is ever deleted. */
const LABEL = 'muster.io/simulated-by';
const LOOK_EVERY_MS = 500;
const PATIENCE_MS = 10 * SECOND_MS;

export interface JoinedNodes {
  readonly tries: readonly string[];
  /** Takes its nodes out of the cluster. */
  close(): Promise<void>;
}

function nodeObject(cloud: string, { name, labels, allocatable, providerId }: SimulatedNode): KubeObject {
  const amounts = { pods: '110', 'ephemeral-storage': '200Gi', ...allocatable };
  const condition = { type: 'Ready', status: 'True', reason: 'Simulated', message: 'The simulated machine runs.' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels, [LABEL]: cloud } },
    spec: { providerID: providerId },
    status: {
      ...{ capacity: amounts, allocatable: amounts, conditions: [condition] },
      nodeInfo: { kubeletVersion: 'simulated', operatingSystem: 'linux', architecture: 'amd64' },
    },
  };
}

/** Adds nodes for machines that run, and deletes those of machines that do not. */
export async function alignNodes(
  kube: Pick<Kube, 'list' | 'create' | 'delete'>,
  cloud: string,
  machines: readonly SimulatedNode[],
  signal: AbortSignal,
): Promise<void> {
  const there = await kube.list(NODES, { labelSelector: `${LABEL}=${cloud}` }, signal);
  const [names, running] = [there.map(({ metadata }) => metadata.name), new Set(machines.map(({ name }) => name))];
  for (const name of names) if (!running.has(name)) await kube.delete(NODES, { name }, signal);
  const known = new Set(names);
  for (const one of machines) if (!known.has(one.name)) await kube.create(NODES, nodeObject(cloud, one), signal);
}

const isOnThisComputer = (server: string): boolean =>
  /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(server).hostname);

/** Simulated machines never become nodes of a cluster that others use. */
async function openLocalCluster(kubeconfig: string, deps: JoinDeps) {
  const access = await openKubeconfig({ paths: [kubeconfig] }, deps);
  const { server } = access;
  if (isOnThisComputer(server)) return access;
  await access.close?.();
  throw new Fault('denied', `The cluster of ${kubeconfig} is at ${server}, and not on this computer.`, {
    remedy: 'Name the kubeconfig that muster sim cloud kubernetes prints.',
  });
}

export interface JoinDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export async function joinSimulatedNodes(
  {
    cloud,
    nodes,
    kubeconfig,
  }: { readonly cloud: string; readonly nodes: SimulatedNodes | undefined; readonly kubeconfig: string },
  deps: JoinDeps,
): Promise<JoinedNodes> {
  if (!nodes)
    throw new Fault('invalid', `No machine of the simulated ${cloud} can be a node.`, {
      remedy: 'Leave --kubeconfig out, or use muster sim cloud gcp.',
    });
  const access = await openLocalCluster(kubeconfig, deps);
  const kube = openKube({ access, clock: deps.clock, fetchWith });
  const going = new AbortController();
  const align = (machines: readonly SimulatedNode[], signal = going.signal): Promise<void> =>
    withDeadline(
      { what: kubeconfig, clock: deps.clock, timeoutMs: PATIENCE_MS, signal, leaseLeftMs: () => PATIENCE_MS },
      (own) => alignNodes(kube, cloud, machines, own),
    );
  await align(nodes.running());
  const loop = startLoop({
    ...deps,
    name: 'simulated nodes',
    async reconcile(_id, signal) {
      await align(nodes.running(), signal);
      return { afterMs: LOOK_EVERY_MS };
    },
  });
  loop.poke(cloud);
  return {
    tries: nodes.tries,
    async close() {
      await loop.stop();
      // The cluster may have ended first: then its nodes have gone with it.
      await align([]).catch(() => {});
      await access.close?.();
    },
  };
}

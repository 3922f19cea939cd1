// What is followed of a cluster: pods, nodes, PodDisruptionBudgets, NodeProvisioners, each by one list and watch.
import type { ClusterAccess } from '#core/cluster-access.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { Kube } from '#kube/client.ts';
import { type KubeObject, withoutManagedFields } from '#kube/object.ts';
import type { Reflector } from '#kube/reflector.ts';
import { NODES, POD_DISRUPTION_BUDGETS, PODS } from '#kube/resource.ts';
import { sharedKube, sharedReflector } from '#kube/shared.ts';
import { budgetFactOf, type NodeFact, nodeFactOf, type PodFact, podReader } from './cluster-objects.ts';
import { NODE_POOLS } from './objects.ts';
import { openPodIndex } from './pod-index.ts';
import type { BudgetFact } from './pod-stay.ts';

/** What changed, so that only what it concerns is looked at again. */
export interface ClusterHeard {
  provisioner(name: string): void;
  /** A node of that provisioner, or a pod on one; undefined: a pod that waits, which any may serve. */
  nodesOf(provisioner: string | undefined): void;
}

export interface ClusterView {
  readonly access: ClusterAccess;
  readonly kube: Kube;
  readonly provisioners: Reflector<KubeObject>;
  readonly nodes: Reflector<NodeFact>;
  readonly pods: Reflector<PodFact>;
  readonly budgets: Reflector<BudgetFact>;
  podsOn(node: string): readonly PodFact[];
  /** Pods that the scheduler has refused. */
  refused(): Iterable<PodFact>;
  /** Throws where any of the views is older than that: nothing is taken away on old news. */
  fresh(ms: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

// Ended pods take no room, and can be many.
const LIVING_PODS = 'status.phase!=Succeeded,status.phase!=Failed';

export async function openClusterView(
  context: Context,
  cluster: string | undefined,
  heard: ClusterHeard,
): Promise<ClusterView> {
  const { clusterAt, fetchWith, clock, random, log } = context;
  if (!clusterAt || !fetchWith) throw new Fault('unsupported', 'No Kubernetes cluster can be opened here.');
  const access = await clusterAt(cluster === undefined ? {} : { cluster });
  const deps = { access, fetchWith, clock, random, log };
  const provisioners = sharedReflector(deps, { resource: NODE_POOLS, query: {}, keep: withoutManagedFields });
  const nodes = sharedReflector(deps, { resource: NODES, query: {}, keep: nodeFactOf });
  const pods = sharedReflector(deps, { resource: PODS, query: { fieldSelector: LIVING_PODS }, keep: podReader() });

  const budgets = sharedReflector(deps, { resource: POD_DISRUPTION_BUDGETS, query: {}, keep: budgetFactOf });

  const index = openPodIndex();
  const owners = new Map<string, string>();
  const ownerOf = (node: string): string | undefined => nodes.all().get(`/${node}`)?.provisioner || undefined;

  const stops = [
    pods.onChange((key, pod) => {
      const concerned = index.change(key, pod);
      if (concerned.waits) heard.nodesOf(undefined);
      for (const owner of [...concerned.nodes].map(ownerOf)) if (owner) heard.nodesOf(owner);
    }),
    nodes.onChange((key, node) => {
      const owner = node?.provisioner ?? owners.get(key);
      if (node?.provisioner) owners.set(key, node.provisioner);
      else owners.delete(key);
      if (owner) heard.nodesOf(owner);
    }),
    provisioners.onChange((key) => heard.provisioner(key.slice(1))),
  ];
  const views = [provisioners, nodes, pods, budgets];

  return {
    access,
    kube: sharedKube(deps),
    provisioners,
    nodes,
    pods,
    budgets,
    podsOn: index.on,
    refused: index.refused,
    async fresh(ms, signal) {
      await Promise.all(views.map((view) => view.freshWithin(ms, signal)));
    },
    async close() {
      for (const stop of stops) stop();
      await Promise.all(views.map((view) => view.close()));
    },
  };
}

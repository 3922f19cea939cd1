import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import type { Nodes, ShownDefragmentation, ShownNode, ShownNodePool } from '#core/node.ts';
import type { ApiDeps } from './deps.ts';
import type { ReportedProblem } from './fleet-problems.ts';
import { gaugeSet } from './gauges.ts';
import type { Gauges, GaugeWorld, NamedThing, Noun } from './noun.ts';
import { type Route, route } from './route.ts';
import { TimeHistogram } from './time-histogram.ts';
import * as wire from './wire/node.ts';
import { Name, toTimeIf } from './wire/shared.ts';

const params = z.object({ provisioner: Name });

function nodesOf({ features }: ApiDeps): Nodes {
  if (features.nodes) return features.nodes;
  throw new Fault('unsupported', 'This server sizes no node groups.');
}

function orMissing<T>(found: T | undefined, name: string): T {
  if (found !== undefined) return found;
  throw new Fault('missing', `There is no NodeProvisioner ${name} that this server has looked at.`, {
    at: 'path.provisioner',
    remedy: 'List them with `muster node ls`; the section `nodes` of the server file must be there.',
  });
}

const shownNodePool = (one: ShownNodePool): wire.NodePool => ({
  name: one.name,
  ready: one.isReady,
  reason: one.reason,
  message: one.message,
  nodes: one.nodes,
  target: one.target,
  ready_nodes: one.ready,
  starting_nodes: one.starting,
  idle_nodes: one.idle,
  gpus: one.gpus,
  gpus_requested: one.gpusRequested,
  utilization_percent: one.utilizationPercent,
  pending_pods: one.pendingPods,
  unfit_pods: one.unfitPods,
  late_rotations: one.lateRotations,
  groups: one.groups.map(({ name, size, backoffUntil, lastError }) => ({
    name,
    size,
    backoff_until: toTimeIf(backoffUntil),
    last_error: lastError,
  })),
  unknown_machines: [...one.unknownMachines],
});

const shownNode = ({ gpusRequested, deletionAt, endsAt, ...node }: ShownNode): wire.NodeOfPool => ({
  ...node,
  gpus_requested: gpusRequested,
  deletion_at: toTimeIf(deletionAt),
  ends_at: toTimeIf(endsAt),
});

const shownDefragmentation = ({ nodes, savedPerHour, kept, ...plan }: ShownDefragmentation): wire.Defragmentation => ({
  ...plan,
  nodes: nodes.map(({ gpusRequested, pricePerHour, moves, ...node }) => ({
    ...node,
    gpus_requested: gpusRequested,
    price_per_hour: pricePerHour,
    moves: moves.map((move) => ({ ...move })),
  })),
  saved_per_hour: savedPerHour,
  kept: kept.map((one) => ({ ...one })),
});

function shownDetail(deps: ApiDeps, name: string): wire.NodePoolDetail {
  const { provisioner, nodes } = orMissing(nodesOf(deps).show(name), name);
  return { provisioner: shownNodePool(provisioner), nodes: nodes.map(shownNode) };
}

function routes(deps: ApiDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/node-provisioners',
      role: 'viewer',
      summary: 'Lists NodeProvisioners with their nodes in figures.',
      reply: wire.NodePoolList,
      handle() {
        const items = deps.features.nodes?.list() ?? [];
        const fault = deps.features.nodes?.fault();
        // An empty list would say that there are none.
        if (fault && items.length === 0) throw fault;
        return { items: items.map(shownNodePool) };
      },
    }),
    route({
      method: 'GET',
      path: '/node-provisioners/:provisioner',
      role: 'viewer',
      summary: 'Shows a NodeProvisioner and each of its nodes.',
      params,
      reply: wire.NodePoolDetail,
      handle: ({ params: { provisioner: name } }) => shownDetail(deps, name),
    }),
    route({
      method: 'GET',
      path: '/node-provisioners/:provisioner/plan',
      role: 'viewer',
      summary: 'Says what a NodeProvisioner does next, and why.',
      params,
      reply: wire.NodePlan,
      handle({ params: { provisioner: name } }) {
        const { alternatives, ...plan } = orMissing(nodesOf(deps).plan(name), name);
        return { ...plan, alternatives: alternatives.map(({ what, whyNot }) => ({ what, why_not: whyNot })) };
      },
    }),
    route({
      method: 'GET',
      path: '/node-provisioners/:provisioner/defragmentation',
      role: 'viewer',
      summary: 'Says which nodes could be emptied, and where each of their pods would go.',
      params,
      reply: wire.Defragmentation,
      async handle({ params: { provisioner: name } }) {
        return shownDefragmentation(orMissing(await nodesOf(deps).defragmentation(name), name));
      },
    }),
    route({
      method: 'POST',
      path: '/node-provisioners/:provisioner/thaw',
      role: 'operator',
      summary: 'Lets nodes be taken away again although many turned NotReady at once.',
      params,
      reply: wire.NodePoolDetail,
      async handle({ params: { provisioner: name }, caller }) {
        await nodesOf(deps).thaw(name, caller);
        return shownDetail(deps, name);
      },
    }),
    route({
      method: 'GET',
      path: '/node-provisioners/:provisioner/pods/:namespace/:pod',
      role: 'viewer',
      summary: 'Says why a pod waits: what keeps each group from giving it a node.',
      params: params.extend({ namespace: Name, pod: Name }),
      reply: wire.PodObstacles,
      handle({ params: { provisioner: name, namespace, pod } }) {
        const { groups, ...rest } = orMissing(nodesOf(deps).whyPod(name, `${namespace}/${pod}`), name);
        return { ...rest, groups: groups.map((group) => ({ ...group })) };
      },
    }),
  ];
}

const SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

/** Observed when the request is committed, right before the cloud is called. */
function followGrowths({ registry, store }: GaugeWorld): () => void {
  const series = new TimeHistogram({
    name: 'muster_node_provisioner_growth_seconds',
    help: 'Time from when the scheduler, which counts whole seconds, refused the first pod to asking a cloud for its node.',
    labelNames: ['provisioner'],
    buckets: SECONDS,
    registry,
  });
  return store.onChange('nodeGroups', (after, before) => {
    const known = new Set(before?.asked.map(({ id }) => id));
    for (const { id, at, neededSince } of after?.asked ?? []) {
      if (neededSince === undefined || known.has(id)) continue;
      const provisioner = after?.provisioner ?? '';
      series.observe(provisioner, () => ({ provisioner }), Math.max(0, at - neededSince) / 1_000);
    }
  });
}

/** NodeProvisioners that are not served, or whose nodes cannot be had. */
function* problems({ features }: ApiDeps): Iterable<ReportedProblem> {
  const fault = features.nodes?.fault();
  if (fault) {
    const { message: what, remedy } = fault;
    yield { id: 'nodes', urgency: 'machines', subject: 'nodes', link: '/nodes', said: () => ({ what, remedy }) };
  }
  for (const { name, isReady, hasCapacity, message: what } of features.nodes?.list() ?? []) {
    if (isReady && hasCapacity) continue;
    const about = { subject: `node-provisioner/${name}`, link: `/nodes/${encodeURIComponent(name)}` };
    const said = { what, remedy: `See \`muster node plan ${name}\`.` };
    yield { id: `nodes/${name}`, urgency: 'machines', ...about, said: () => said };
  }
}

function gauges(world: GaugeWorld): Gauges {
  const { registry, features } = world;
  const { gauge, reset } = gaugeSet(registry);
  const by = ['provisioner'];
  const nodes = gauge('muster_node_provisioner_nodes', 'Nodes by provisioner.', by);
  const target = gauge('muster_node_provisioner_target_nodes', 'Nodes that a provisioner should have.', by);
  const starting = gauge('muster_node_provisioner_starting_nodes', 'Nodes that were asked for and are not ready.', by);
  const idle = gauge('muster_node_provisioner_idle_nodes', 'Ready nodes without GPU pods.', by);
  const gpus = gauge('muster_node_provisioner_gpus', 'GPUs of the nodes of a provisioner.', by);
  const requested = gauge('muster_node_provisioner_requested_gpus', 'GPUs that pods have asked for.', by);
  const pending = gauge('muster_node_provisioner_pending_pods', 'Pods that wait for nodes.', by);
  const unfit = gauge('muster_node_provisioner_unfit_pods', 'Pods that wait and that no node would help.', by);
  const capacity = gauge(
    'muster_node_provisioner_capacity_available',
    '0 while nodes are needed and no group can give them.',
    by,
  );
  const late = gauge('muster_node_provisioner_late_rotations', 'Nodes that end soon and are not replaced.', by);
  const ready = gauge('muster_node_provisioner_ready', '1 while the NodeProvisioner is served.', by);
  const stop = followGrowths(world);
  return {
    stop,
    refresh() {
      reset();
      for (const one of features().nodes?.list() ?? []) {
        const labels = { provisioner: one.name };
        nodes.set(labels, one.nodes);
        target.set(labels, one.target);
        starting.set(labels, one.starting);
        idle.set(labels, one.idle);
        gpus.set(labels, one.gpus);
        requested.set(labels, one.gpusRequested);
        pending.set(labels, one.pendingPods);
        unfit.set(labels, one.unfitPods);
        capacity.set(labels, one.hasCapacity ? 1 : 0);
        late.set(labels, one.lateRotations);
        ready.set(labels, one.isReady ? 1 : 0);
      }
    },
  };
}

function* named({ features }: ApiDeps): Iterable<NamedThing> {
  for (const { name } of features.nodes?.list() ?? [])
    yield { kind: 'provisioner', name, link: `/nodes/${encodeURIComponent(name)}` };
}

export const noun: Noun = { tag: 'nodes', order: 97, routes, problems, named, gauges };

import { z } from 'zod';
import { NODE_PHASES } from '#core/node.ts';
import { Alternative } from './decision.ts';
import { listOf, Time } from './shared.ts';

const count = (about: string) => z.int().describe(about);
const time = (about: string) => Time.optional().describe(about);

export const NodeGroup = z
  .object({
    name: z.string().describe('Name of the instance group.'),
    size: count('The size that its cloud aims at.'),
    backoff_until: time('It is not grown before this time.'),
    last_error: z.string().optional().describe('What the cloud said when it did not grow.'),
  })
  .meta({ id: 'NodeGroup' });

export const NodePool = z
  .object({
    name: z.string().describe('Name of the NodeProvisioner.'),
    ready: z.boolean().describe('Whether it is served.'),
    reason: z.string().describe('One word that says why.'),
    message: z.string().describe('A sentence that says why, and what to do about it.'),
    nodes: count('Nodes that it has.'),
    target: count('Nodes that it should have now.'),
    ready_nodes: count('Nodes that are ready for pods.'),
    starting_nodes: count('Nodes that were asked for and are not ready yet.'),
    idle_nodes: count('Ready nodes without any pod that asks for GPUs.'),
    gpus: count('GPUs of its nodes.'),
    gpus_requested: count('GPUs that pods on its nodes have asked for.'),
    utilization_percent: count('gpus_requested of gpus.'),
    pending_pods: count('Pods that wait for nodes of it.'),
    unfit_pods: count('Pods that wait and that no node of it would help.'),
    late_rotations: count('Nodes that end soon and should have been replaced by now.'),
    groups: z.array(NodeGroup).describe('Its instance groups, the first one is grown first.'),
    unknown_machines: z
      .array(z.string())
      .describe('Machines of its groups that are no nodes and that Muster did not ask for; it leaves them alone.'),
  })
  .meta({ id: 'NodeProvisioner' });
export type NodePool = z.output<typeof NodePool>;

export const NodePoolList = listOf(NodePool);
export type NodePoolList = z.output<typeof NodePoolList>;

export const NodeOfPool = z
  .object({
    name: z.string().describe('Name of the node.'),
    phase: z.enum(NODE_PHASES).describe('Where it is between coming and going.'),
    group: z.string().optional().describe('Its instance group.'),
    gpus: count('GPUs that it has.'),
    gpus_requested: count('GPUs that pods on it have asked for.'),
    pods: count('Pods on it, without those that go with the node.'),
    deletion_at: time('From when it may be deleted.'),
    ends_at: time('When its machine ends by itself.'),
    why: z.string().describe('What keeps it, or when it goes.'),
  })
  .meta({ id: 'NodeOfPool' });
export type NodeOfPool = z.output<typeof NodeOfPool>;

export const NodePoolDetail = z
  .object({
    provisioner: NodePool,
    nodes: z.array(NodeOfPool).describe('Its nodes.'),
  })
  .meta({ id: 'NodePoolDetail' });
export type NodePoolDetail = z.output<typeof NodePoolDetail>;

export const NodePlan = z
  .object({
    name: z.string().describe('Name of the NodeProvisioner.'),
    target: count('Nodes that it should have.'),
    did: z.string().describe('What it does next.'),
    why: z.string().describe('What leads to it.'),
    unless: z.string().optional().describe('What would change that.'),
    reason: z.string().describe('The code of the reason.'),
    alternatives: z.array(Alternative).describe('What is not done, and why.'),
  })
  .meta({ id: 'NodePlan' });
export type NodePlan = z.output<typeof NodePlan>;

const PodMove = z.object({
  pod: z.string().describe('The pod as `namespace/name`.'),
  to: z.string().describe('The node that has room for it.'),
  gpus: count('GPUs that it asks for.'),
});

const FreedNode = z.object({
  name: z.string().describe('Name of the node.'),
  group: z.string().optional().describe('Its instance group.'),
  gpus: count('GPUs that it has.'),
  gpus_requested: count('GPUs that pods on it have asked for.'),
  price_per_hour: z.number().optional().describe('What it costs, in dollars.'),
  when: z
    .enum(['under way', 'this hour', 'later'])
    .describe('When the mode `act` empties it, by the budgets of the hour.'),
  moves: z.array(PodMove).describe('Its pods, and where each has room.'),
});

export const Defragmentation = z
  .object({
    name: z.string().describe('Name of the NodeProvisioner.'),
    mode: z.enum(['off', 'plan', 'act']).describe('`defragmentation.mode` of the object.'),
    message: z.string().describe('What the mode makes of this.'),
    nodes: z.array(FreedNode).describe('Nodes that can be emptied, in the order in which they would be.'),
    evictions: count('Pods that would be moved.'),
    saved_per_hour: z
      .number()
      .optional()
      .describe('What these nodes cost, in dollars; absent where one has no known price.'),
    kept: z
      .array(z.object({ node: z.string(), why: z.string() }))
      .describe('Nodes with pods that are not emptied, and why.'),
  })
  .meta({ id: 'Defragmentation' });
export type Defragmentation = z.output<typeof Defragmentation>;

export const PodObstacles = z
  .object({
    pod: z.string().describe('The pod as `namespace/name`.'),
    verdict: z.string().describe('Why it waits.'),
    groups: z
      .array(z.object({ name: z.string(), obstacle: z.string() }))
      .describe('What keeps each group from giving it a node.'),
  })
  .meta({ id: 'PodObstacles' });
export type PodObstacles = z.output<typeof PodObstacles>;

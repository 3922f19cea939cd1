// What a NodeProvisioner shows of itself.
import { z } from 'zod';

export const CONDITIONS = ['Ready', 'CapacityAvailable', 'RotationOnTime'] as const;
export type ConditionType = (typeof CONDITIONS)[number];

/** Why a condition is as it is. */
export const CONDITION_REASONS = [
  'AtTarget',
  'Scaling',
  'SpecInvalid',
  'GroupNotFound',
  'GroupAmbiguous',
  'GroupTaken',
  'GroupNotPermitted',
  'GroupNotMade',
  'GroupHasAutoscaler',
  'GroupRedistributes',
  'GroupUnreadable',
  'NoGPUInTemplate',
  'NodesNotLabelled',
  'NoQueueInGroup',
  'NoAccount',
  'RightMissing',
  'ServedByAnother',
  'NodesNotReady',
  'Frozen',
  'Unreachable',
  'CapacityFound',
  'NoCapacity',
  'AtMostNodes',
  'NothingEnds',
  'OnTime',
  'NoReplacement',
  'PodsStay',
] as const;
export type ConditionReason = (typeof CONDITION_REASONS)[number];

const whole = (text: string) => z.int().optional().describe(text);
const text = (about: string) => z.string().optional().describe(about);

const pendingDeletion = z.object({
  name: z.string().describe('The node.'),
  at: z.string().describe('When it may be deleted.'),
});

const groupStatus = z.object({
  name: z.string().describe('Name of the group.'),
  size: whole('The size that its cloud aims at.'),
  backoffUntil: text('It is not grown before this time.'),
  lastError: text('What the cloud said when it did not grow.'),
});

const condition = z.object({
  type: z.string().describe(`One of ${CONDITIONS.join(', ')}.`),
  status: z.string().describe('True, False or Unknown.'),
  reason: text('One word that says why.'),
  message: text('A sentence that says why, and what to do about it.'),
  observedGeneration: whole('The generation of the object that this condition is about.'),
  lastTransitionTime: text('When the status last changed.'),
});

export const NodePoolStatus = z
  .object({
    observedGeneration: whole('The generation of the object that this status is about.'),
    currentSize: whole('Nodes that it has, without those that are coming.'),
    targetSize: whole('Nodes that it should have now.'),
    ready: whole('Nodes that are ready for pods.'),
    starting: whole('Nodes that were asked for and are not ready yet.'),
    idleNodes: whole('Ready nodes without any pod that asks for GPUs.'),
    emptyingNodes: whole('Nodes whose pods are being moved to other nodes.'),
    gpus: whole('GPUs of its nodes.'),
    gpusRequested: whole('GPUs that pods on its nodes have asked for.'),
    utilizationPercent: whole('gpusRequested of gpus.'),
    pendingPods: whole('Pods that wait for nodes of it.'),
    unfitPods: whole('Pods that wait and that no node of it would help.'),
    unknownMachines: z
      .array(z.string())
      .optional()
      .describe('Machines of its groups that are no nodes and that Muster did not ask for, at most 50.'),
    nodesPendingDeletion: z.array(pendingDeletion).optional().describe('Nodes that go, at most 50.'),
    groups: z.array(groupStatus).optional().describe('Its instance groups, the first one is grown first.'),
    lastDecision: z
      .object({
        did: text('What was done, or nothing.'),
        why: text('What led to it.'),
        at: text('Since when it decides so.'),
      })
      .optional()
      .describe('What it last did or did not do, and why.'),
    conditions: z
      .array(condition)
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
      .optional()
      .describe('What holds of it; tools wait for Ready.'),
  })
  .meta({ default: { observedGeneration: -1 }, description: 'What Muster has made of it.' });

export type NodePoolStatusValue = z.output<typeof NodePoolStatus>;

import type { ReasonRule, Subject, SubjectReasons } from '#core/reason.ts';

const REASONS = {
  steady: { means: 'There are as many nodes as needed.', with: [] },
  'pods-pending': { means: 'Pods wait for GPUs that no node has free.', with: [] },
  'max-utilization': {
    means: 'More GPUs are asked for than the largest utilization allows.',
    with: ['maxGPUUtilizationPercent'],
  },
  'min-utilization': {
    means: 'Fewer GPUs are asked for than the least utilization demands.',
    with: ['minGPUUtilizationPercent'],
  },
  'idle-nodes': { means: 'So many nodes without GPU pods are kept.', with: ['minUnutilizedGPUNodes'] },
  'busy-nodes': { means: 'Only nodes that have GPU pods are needed.', with: [] },
  'min-nodes': { means: 'There must not be fewer nodes.', with: ['minNodes'] },
  'most-nodes': { means: 'There must not be more nodes.', with: ['maxNodes'] },
  'pods-came': { means: 'Pods came to a node that was about to go.', with: [] },
  'delay-over': { means: 'The delay after the taint is over, and the node is still empty.', with: [] },
  'never-registered': { means: 'Machines did not become nodes within the registration timeout.', with: [] },
  'no-capacity': { means: 'The cloud has no capacity for the machines that were asked for.', with: [] },
  'waited-too-long': { means: 'The queue of the cloud gave no machine within waitSeconds.', with: [] },
  'no-group-grows': { means: 'Nodes are needed, and every group is full, refused or backing off.', with: [] },
  'node-broken': { means: 'The node has not been ready for longer than the registration timeout.', with: [] },
  'many-not-ready': { means: 'More than 30 percent of the nodes, at least three, turned NotReady.', with: [] },
  'ends-soon': { means: 'The machine of the node ends by itself soon.', with: [] },
  'no-replacement': { means: 'A node ends soon, and no group gives another in its place.', with: [] },
  defragmented: { means: 'All pods of the node fit on other nodes, and without it the others suffice.', with: [] },
  'not-emptied': {
    means:
      'A node is not emptied any longer: a pod must stay or has no place, the node is needed, or its hour is over.',
    with: [],
  },
  'room-needed': {
    means: 'A pod waits that no group can serve, and fits on the node once smaller pods have moved to others.',
    with: [],
  },
  'emptying-done': { means: 'No node is being emptied, so idle nodes are as good as others again.', with: [] },
  'orphan-taint': { means: 'The node bears our taint, and its NodeProvisioner is gone.', with: [] },
  frozen: { means: 'An operator has frozen everything.', with: [] },
} as const satisfies Record<string, ReasonRule>;

export type NodeReason = keyof typeof REASONS;

export const reasons: SubjectReasons = {
  subject: 'node-provisioner',
  verbs: ['grow', 'taint', 'untaint', 'delete', 'cancel', 'give-up', 'rotate', 'empty', 'evict'],
  reasons: REASONS,
};

export const nodePoolSubject = (name: string): Subject => `node-provisioner/${name}`;

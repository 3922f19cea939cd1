import type { Nodes, ShownNode, ShownNodePool } from '#core/node.ts';

const aNodePool: ShownNodePool = {
  name: 'h100',
  isReady: true,
  hasCapacity: true,
  reason: 'AtTarget',
  message: 'It has 1 node.',
  nodes: 1,
  target: 1,
  ready: 1,
  starting: 0,
  idle: 0,
  gpus: 8,
  gpusRequested: 8,
  utilizationPercent: 100,
  pendingPods: 0,
  unfitPods: 0,
  lateRotations: 0,
  groups: [{ name: 'grp', size: 1, backoffUntil: 1, lastError: 'no stock' }],
  unknownMachines: ['i-1'],
};
const aNode: ShownNode = {
  name: 'n1',
  phase: 'ready',
  group: 'grp',
  gpus: 8,
  gpusRequested: 8,
  pods: 1,
  deletionAt: 1,
  endsAt: 2,
  why: '1 pod is on it.',
};
/** Nodes with one NodeProvisioner, which has everything that can be shown. */
export const nodesOfOne: Nodes = {
  fault: () => undefined,
  list: () => [aNodePool],
  show: () => ({ provisioner: aNodePool, nodes: [aNode] }),
  plan: (name) => ({
    name,
    target: 1,
    did: 'nothing',
    why: '1 node',
    reason: 'steady',
    alternatives: [{ what: 'grow grp', whyNot: 'full' }],
  }),
  defragmentation: async (name) => ({
    ...{ name, mode: 'plan', message: 'The mode is plan: nothing is moved.', evictions: 1, savedPerHour: 24.5 },
    nodes: [
      {
        ...{ name: 'n1', group: 'grp', gpus: 8, gpusRequested: 1, pricePerHour: 24.5, when: 'this hour' },
        moves: [{ pod: 'ml/a', to: 'n2', gpus: 1 }],
      },
    ],
    kept: [{ node: 'n2', why: 'ml/b is not moved: no controller would make it again' }],
  }),
  whyPod: (_name, pod) => ({ pod, verdict: 'It waits.', groups: [{ name: 'grp', obstacle: 'full' }] }),
  thaw: async () => {},
};

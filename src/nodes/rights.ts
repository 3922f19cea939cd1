// What sizing node groups may do in the cluster. Nodes have no namespace, so this is always a ClusterRole.
import { NODES, POD_DISRUPTION_BUDGETS, PODS } from '#kube/resource.ts';
import type { Right } from '#kube/rights.ts';
import { NODE_POOLS } from './objects.ts';

/** Granted only where the operator asks for nodes to be sized. */
export const NODE_RIGHTS: readonly Right[] = [
  {
    resource: NODE_POOLS,
    verbs: ['list', 'watch', 'patch'],
    why: 'reads NodeProvisioners; `patch` writes which Muster serves one',
  },
  { resource: NODE_POOLS, subresource: 'status', verbs: ['patch'], why: 'writes counts and conditions' },
  {
    resource: NODES,
    verbs: ['get', 'list', 'watch', 'patch'],
    why: 'reads sizes and labels; `patch` sets and removes the taint, and cordons',
  },
  { resource: PODS, verbs: ['list', 'watch'], why: 'reads what waits for GPUs, and what runs where' },
  {
    resource: PODS,
    subresource: 'eviction',
    verbs: ['create'],
    why: 'moves pods off nodes that end or are emptied, within their budgets',
  },
  { resource: POD_DISRUPTION_BUDGETS, verbs: ['list', 'watch'], why: 'reads how many pods may go' },
];

/** What leaving the cluster needs, only while it is done. */
export const NODE_RELEASE_RIGHTS: readonly Right[] = [
  { resource: NODE_POOLS, verbs: ['list', 'patch'], why: 'lets another Muster serve them' },
  { resource: NODES, verbs: ['get', 'list', 'patch'], why: 'removes the taint, and uncordons' },
];

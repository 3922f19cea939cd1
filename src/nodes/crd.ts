// The CustomResourceDefinition of NodeProvisioners.
import { customResourceDefinition, type PrinterColumn } from '#kube/crd.ts';
import { NODE_POOLS } from './objects.ts';
import { NodePoolSpec } from './spec.ts';
import { NodePoolStatus } from './status-object.ts';

const KEEPS_UNKNOWN = { 'x-kubernetes-preserve-unknown-fields': true };

const readyCondition = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;

const COLUMNS: readonly PrinterColumn[] = [
  { name: 'Nodes', type: 'integer', jsonPath: '.status.currentSize', description: 'Nodes that it has.' },
  {
    name: 'Target',
    type: 'integer',
    jsonPath: '.status.targetSize',
    description: 'Nodes that it should have now.',
  },
  { name: 'Idle', type: 'integer', jsonPath: '.status.idleNodes', description: 'Ready nodes without GPU pods.' },
  { name: 'GPUs', type: 'integer', jsonPath: '.status.gpus', description: 'GPUs of its nodes.' },
  { name: 'Util', type: 'integer', jsonPath: '.status.utilizationPercent', description: 'GPUs asked for, in percent.' },
  { name: 'Pending', type: 'integer', jsonPath: '.status.pendingPods', description: 'Pods that wait for nodes.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  {
    name: 'Ready',
    type: 'string',
    jsonPath: readyCondition('status'),
    priority: 1,
    description: 'Whether it is served.',
  },
  { name: 'Message', type: 'string', jsonPath: readyCondition('message'), priority: 1, description: 'Why.' },
];

/** Unknown keys are kept, so that the condition can say which key was meant: the API server would drop them in silence. */
export const NODE_POOL_CRD = customResourceDefinition({
  resource: NODE_POOLS,
  singular: 'nodeprovisioner',
  description: 'Instance groups behind GPU nodes. Muster keeps them at the size that pods need.',
  spec: NodePoolSpec.meta({
    ...KEEPS_UNKNOWN,
    description: 'Which instance groups, and how large they should be.',
  }),
  status: NodePoolStatus,
  columns: COLUMNS,
});

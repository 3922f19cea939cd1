// The definition of NodeProvisioners as a file for kubectl and for the chart.
import { stringify } from 'yaml';
import { NODE_POOL_CRD } from '../src/nodes/crd.ts';

export function renderNodePoolCrd(): string {
  const head = '# NodeProvisioners, by which Muster sizes GPU node groups. Written by "npm run gen"; do not edit.';
  return `${head}\n${stringify(NODE_POOL_CRD, { aliasDuplicateObjects: false, lineWidth: 0 })}`;
}

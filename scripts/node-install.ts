// What sizing nodes needs in a cluster, as files for kubectl and for the chart.
import { NODE_POOL_CRD } from '../src/nodes/crd.ts';
import { NODE_RELEASE_RIGHTS, NODE_RIGHTS } from '../src/nodes/rights.ts';
import { chartRights, nodesCrdFile } from '../src/providers/kubernetes/install/files.ts';

/** The definition of NodeProvisioners. */
export const renderNodesCrd = (): string => nodesCrdFile(NODE_POOL_CRD);

/** The rules of the chart. */
export const renderChartRights = (): string => chartRights({ rights: NODE_RIGHTS, releaseRights: NODE_RELEASE_RIGHTS });

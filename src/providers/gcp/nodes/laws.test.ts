import { testNodeGroups } from '../../../conformance/node-groups.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import { GPU_TEMPLATE, NODE_LAW_FAULTS, nodeLawWorld } from '../fake/compute/testing/node-laws.ts';
import gcp from '../index.ts';
import { GceNodesConfig } from './config.ts';
import { openGceNodes } from './groups.ts';

for (const [title, place, elsewhere] of [
  ['gce', { zone: 'us-central1-a' }, 'zones/us-central1-b'],
  ['gce, in regions', { region: 'us-central1' }, 'regions/us-east1'],
] as const) {
  const config = GceNodesConfig.parse({
    project: PROJECT,
    groupTemplates: { h100: { ...place, instanceTemplate: GPU_TEMPLATE } },
  });
  testNodeGroups(title, {
    kind: gcp.nodeGroups.gce,
    openWorld: nodeLawWorld({
      place: 'zone' in place ? `zones/${place.zone}` : `regions/${place.region}`,
      elsewhere,
      open: ({ contextFor }) => openGceNodes(config, contextFor()),
    }),
    gpu: 'nvidia.com/gpu',
    many: 7,
    template: 'h100',
    faults: NODE_LAW_FAULTS,
  });
}

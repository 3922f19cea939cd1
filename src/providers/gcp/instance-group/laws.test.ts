import { testBackend } from '../../../conformance/backend.ts';
import { LAW_FAULTS, lawWorld } from '../fake/compute/testing/laws.ts';
import gcp from '../index.ts';

const REGIONAL = { zone: undefined, region: 'us-central1', instanceGroup: 'velda-regional' };

for (const [title, config] of [
  ['gce_instance_group', {}],
  ['a regional gce_instance_group', REGIONAL],
  ['gce_instance_group with marks in names', { marks: 'name' }],
] as const) {
  testBackend(title, {
    kind: gcp.backends.gce_instance_group,
    openWorld: lawWorld('compute.instanceGroupManagers.createInstances', (scene, context) =>
      scene.openGroup(config, context),
    ),
    many: 4,
    faults: LAW_FAULTS,
  });
}

import { testBackend } from '../../../conformance/backend.ts';
import { LAW_FAULTS, lawWorld } from '../fake/compute/testing/laws.ts';
import gcp from '../index.ts';

testBackend('gce_instance', {
  kind: gcp.backends.gce_instance,
  openWorld: lawWorld(
    'compute.instances.bulkInsert',
    (scene, context) => scene.openInstances({}, context),
    (scene, context) => scene.openInstances({ maxStoppedInstances: 2 }, context),
  ),
  hasEndpoints: true,
  endsMachines: true,
  many: 4,
  faults: LAW_FAULTS,
});

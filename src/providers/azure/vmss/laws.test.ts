import { testBackend } from '../../../conformance/backend.ts';
import { addSet, computeOf, contextIn, openInSet, openScene, openVmWorld, VM_FAULTS } from '../fake/testing.ts';
import provider from '../index.ts';

testBackend('azure_vmss', {
  kind: provider.backends.azure_vmss,
  async openWorld() {
    const scene = openScene({ pageSize: 1, lagMs: 3_000 });
    addSet(computeOf(scene));
    return openVmWorld(scene, (cluster) => openInSet(scene, {}, contextIn(scene, cluster)));
  },
  many: 4,
  faults: VM_FAULTS,
  hasEndpoints: true,
});

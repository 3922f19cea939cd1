import { testBackend } from '../../../conformance/backend.ts';
import { contextIn, openBackend, openScene, openVmWorld, VM_FAULTS } from '../fake/testing.ts';
import provider from '../index.ts';

testBackend('azure_vm', {
  kind: provider.backends.azure_vm,
  async openWorld() {
    const scene = openScene({ pageSize: 1, lagMs: 3_000 });
    return openVmWorld(scene, (cluster) => openBackend(scene, {}, contextIn(scene, cluster)));
  },
  many: 4,
  faults: VM_FAULTS,
});

import { testBackend } from '../../../conformance/backend.ts';
import { contextIn, OWN_NETWORK, openBackend, openScene, openVmWorld, VM_FAULTS } from '../fake/testing.ts';
import provider from '../index.ts';

const openWorld = (config: object) => async () => {
  const scene = openScene({ pageSize: 1, lagMs: 3_000 });
  return openVmWorld(scene, (cluster) => openBackend(scene, config, contextIn(scene, cluster)));
};
const HARNESS = { kind: provider.backends.azure_vm, many: 4, faults: VM_FAULTS, hasEndpoints: true } as const;

testBackend('azure_vm', { ...HARNESS, openWorld: openWorld({}) });
testBackend('azure_vm, with networks of its own,', { ...HARNESS, openWorld: openWorld(OWN_NETWORK) });

import { testBackend } from '../../../conformance/backend.ts';
import { GROUP_FAULTS, openGroupWorld, openInContainers } from '../fake/containers/testing.ts';
import { contextIn, openScene } from '../fake/testing.ts';
import provider from '../index.ts';

testBackend('azure_container_instance', {
  kind: provider.backends.azure_container_instance,
  many: 4,
  faults: GROUP_FAULTS,
  hasEndpoints: true,
  async openWorld() {
    const scene = openScene({ pageSize: 1, lagMs: 3_000 });
    return openGroupWorld(scene, (cluster) => openInContainers(scene, {}, contextIn(scene, cluster)));
  },
});

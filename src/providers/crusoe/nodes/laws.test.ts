import { testNodeGroups } from '../../../conformance/node-groups.ts';
import { LAW_FAULTS, openLawWorld } from '../fake/testing.ts';
import crusoe from '../index.ts';

testNodeGroups('crusoe', {
  kind: crusoe.nodeGroups.crusoe,
  openWorld: openLawWorld,
  gpu: 'nvidia.com/gpu',
  many: 7,
  template: 'h100',
  faults: LAW_FAULTS,
  excuses: { queues: 'it has no queue', cancels: 'it has no queue' },
});

import { inject } from 'vitest';
import { testSlice } from '../../../../conformance/slice.ts';
import { GROUP_SLICE } from '../containers/testing/slice.ts';
import { OWN_NETWORK_SLICE, VM_SLICE, VMSS_SLICE } from './testing.ts';

testSlice('a pool of virtual machines of Azure', VM_SLICE);

// But for the request for one machine both kinds are the same code: the set's own run belongs to `npm run test:long`.
if (inject('sliceStride') === 1) {
  testSlice('a pool in a scale set of Azure', VMSS_SLICE);
  testSlice('a pool of virtual machines of Azure with networks of their own', OWN_NETWORK_SLICE);
  testSlice('a pool of container groups of Azure', GROUP_SLICE);
}

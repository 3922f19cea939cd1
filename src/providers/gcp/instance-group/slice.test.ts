import { testSlice } from '../../../conformance/slice.ts';
import { GROUP_SLICE } from '../fake/compute/testing/slices.ts';

testSlice('a pool on a managed instance group', GROUP_SLICE);

import { testSlice } from '../../../conformance/slice.ts';
import { INSTANCE_SLICE } from '../fake/compute/testing/slices.ts';

testSlice('a pool of instances', INSTANCE_SLICE);

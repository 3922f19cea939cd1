import { testSlice } from '../../../conformance/slice.ts';
import { VM_SLICE } from './testing.ts';

testSlice('a pool of virtual machines of Azure', VM_SLICE);

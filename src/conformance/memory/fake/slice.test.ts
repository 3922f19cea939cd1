import { testSlice } from '../../../conformance/slice.ts';
import { memorySlice } from './testing.ts';

testSlice('a pool on the cloud in memory', memorySlice());

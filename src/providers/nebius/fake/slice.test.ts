import { testSlice } from '../../../conformance/slice.ts';
import { NEBIUS_SLICE } from './testing.ts';

testSlice('a pool of instances of Nebius', NEBIUS_SLICE);

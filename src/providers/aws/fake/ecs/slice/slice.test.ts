import { testSlice } from '../../../../../conformance/slice.ts';
import { ECS_SLICE } from './testing.ts';

testSlice('a pool on ECS', ECS_SLICE);

import { testSlice } from '../../../conformance/slice.ts';
import { DOCKER_SLICE } from './testing.ts';

testSlice('a pool of containers', DOCKER_SLICE);

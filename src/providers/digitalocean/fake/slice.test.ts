import { testSlice } from '../../../conformance/slice.ts';
import { DROPLET_SLICE } from './testing.ts';

testSlice('a pool of droplets', DROPLET_SLICE);

import { testSlice } from '../../../../conformance/slice.ts';
import { AWS_SLICE } from './testing.ts';

testSlice('a pool from Parameter Store on EC2', AWS_SLICE);

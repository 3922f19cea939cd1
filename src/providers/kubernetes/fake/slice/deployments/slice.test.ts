import { testSlice } from '../../../../../conformance/slice.ts';
import { DEPLOYMENT_SLICE } from './testing.ts';

testSlice('a pool of Deployments in Kubernetes', DEPLOYMENT_SLICE);

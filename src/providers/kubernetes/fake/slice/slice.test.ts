import { testSlice } from '../../../../conformance/slice.ts';
import { KUBERNETES_SLICE } from './testing.ts';

testSlice('a pool of an AgentPool object in Kubernetes', KUBERNETES_SLICE);

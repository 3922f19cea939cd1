import { testSlice } from '../../src/conformance/slice.ts';
import { RUN_SLICE } from '../../src/providers/gcp/fake/run/testing/slices.ts';

testSlice('a pool of services on Cloud Run', RUN_SLICE);

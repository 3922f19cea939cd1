import { testSlice } from '../../../conformance/slice.ts';
import { MITHRIL_SLICE } from './testing.ts';

testSlice('a pool of spot bids', MITHRIL_SLICE);

import { testComputers } from '../../../conformance/computers.ts';
import { CLOUD_RUN_COMPUTERS } from './testing.ts';

testComputers('a computer on Cloud Run', CLOUD_RUN_COMPUTERS);

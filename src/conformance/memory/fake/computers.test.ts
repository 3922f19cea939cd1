import { testComputers } from '../../../conformance/computers.ts';
import { memoryComputers } from './testing.ts';

testComputers('a computer on the cloud in memory', memoryComputers());

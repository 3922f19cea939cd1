import { testComputers } from '../../computers.ts';
import { memoryComputers } from './testing.ts';

testComputers('a computer on the cloud in memory', memoryComputers());

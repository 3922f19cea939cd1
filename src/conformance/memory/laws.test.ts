import { testBackend } from '../../conformance/backend.ts';
import { memoryCloud } from './fake/testing.ts';

testBackend('memory_machine', memoryCloud());
testBackend('memory_machine without operations', memoryCloud({}, { operations: false }));

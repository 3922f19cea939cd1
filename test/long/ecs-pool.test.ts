// The pool on ECS has its slice here alone: what is its own is tested by its laws, and by its computers.
import { testSlice } from '../../src/conformance/slice.ts';
import { ECS_SLICE } from '../../src/providers/aws/fake/ecs/slice/testing.ts';

testSlice('a pool on ECS', ECS_SLICE);

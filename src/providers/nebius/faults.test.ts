import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { GRPC } from '#core/unary.ts';
import { failure } from './fake/refusals.ts';
import { faultOf, statusOf } from './faults.ts';
import { StatusSchema } from './gen/nebius_pb.ts';

it.each([
  ['QuotaFailure', 'quota', 'compute.instance.count: 3 of 2'],
  ['NotEnoughResources', 'exhausted', 'why'],
  ['TooManyRequests', 'throttled', 'why'],
  ['OperationConflict', 'conflict', 'ABORTED'],
  ['BadResourceState', 'conflict', 'FAILED_PRECONDITION'],
  ['BadRequest', 'invalid', 'why'],
  ['ResourceNotFound', 'missing', 'NOT_FOUND'],
  ['ResourceAlreadyExists', 'conflict', 'ALREADY_EXISTS'],
  ['PermissionDenied', 'denied', 'PERMISSION_DENIED'],
  ['Unauthenticated', 'unauthenticated', 'UNAUTHENTICATED'],
  ['InternalError', 'unavailable', 'INTERNAL'],
])('%s of Nebius is %s', (code, kind, words) => {
  const fault = faultOf('It', failure(code, 'why'));

  expect(fault.kind).toBe(kind);
  expect(fault.message).toMatch(/^It failed: /);
  expect(fault.message).toContain(words);
  expect(fault.message).toContain(code);
});

// The original takes every RESOURCE_EXHAUSTED for a lack of capacity.
it.each([
  ['Quota limit exceeded for gpu', 'quota'],
  ['Not enough resources to run the instance', 'exhausted'],
  ['Too many requests', 'throttled'],
  ['Slow down', 'throttled'],
])('RESOURCE_EXHAUSTED without a detail goes by its words: %s', (message, kind) => {
  expect(faultOf('It', create(StatusSchema, { code: GRPC.RESOURCE_EXHAUSTED, message })).kind).toBe(kind);
});

it('details that are no status do no harm', () => {
  const status = statusOf(GRPC.UNAVAILABLE, 'away', new Uint8Array([255, 1, 2]));

  expect(faultOf('It', create(StatusSchema, status))).toMatchObject({
    kind: 'unavailable',
    message: 'It failed: UNAVAILABLE: away',
  });
});

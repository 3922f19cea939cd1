import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { GRPC, type GrpcStatus } from '#core/unary.ts';
import { type GrpcRefusal, grpcRefusal } from '#fakes/grpc.ts';
import { type Refusal, refusal } from '#fakes/refusal.ts';
import { type ServiceError, ServiceErrorSchema, type Status, StatusSchema } from '../gen/nebius_pb.ts';

type Details = ServiceError['details'];

interface Rule {
  readonly status: GrpcStatus;
  detail?(message: string): object;
}

const violation = (key: string, value: object): object => ({ case: key, value: { violations: [value] } });

// By the code of the service error: what gRPC says to it, and the detail.
const RULES: Readonly<Record<string, Rule>> = {
  BadRequest: {
    status: 'INVALID_ARGUMENT',
    detail(message) {
      const [, field = '', rule = message] = /^(\S+): (.*)$/.exec(message) ?? [];
      return violation('badRequest', { field, message: rule });
    },
  },
  ResourceNotFound: { status: 'NOT_FOUND', detail: (id) => ({ case: 'resourceNotFound', value: { resourceId: id } }) },
  ResourceAlreadyExists: {
    status: 'ALREADY_EXISTS',
    detail: (id) => ({ case: 'resourceAlreadyExists', value: { resourceId: id } }),
  },
  PermissionDenied: { status: 'PERMISSION_DENIED', detail: () => ({ case: 'permissionDenied', value: {} }) },
  Unauthenticated: { status: 'UNAUTHENTICATED' },
  OperationConflict: { status: 'ABORTED', detail: (id) => ({ case: 'operationConflict', value: { resourceId: id } }) },
  BadResourceState: {
    status: 'FAILED_PRECONDITION',
    detail: (message) => ({ case: 'badResourceState', value: { message } }),
  },
  TooManyRequests: {
    status: 'RESOURCE_EXHAUSTED',
    detail: (message) => ({ case: 'tooManyRequests', value: { violation: message } }),
  },
  QuotaFailure: {
    status: 'RESOURCE_EXHAUSTED',
    detail: (message) =>
      violation('quotaFailure', { quota: 'compute.instance.count', message, limit: '2', requested: '3' }),
  },
  NotEnoughResources: {
    status: 'RESOURCE_EXHAUSTED',
    detail: (message) => violation('notEnoughResources', { resourceType: 'gpu', message }),
  },
  InternalError: { status: 'INTERNAL', detail: () => ({ case: 'internalError', value: { requestId: 'req-1' } }) },
  Unimplemented: { status: 'UNIMPLEMENTED' },
};

/** A refusal of the fake by the code of its service error. */
export const refused = (code: string, message: string): Refusal => refusal(code, message);

/** As it stands in the end of an operation. */
export function failure(code: string, message: string): Status {
  const { status, detail }: Rule = RULES[code] ?? { status: 'UNKNOWN' };
  const details = (detail?.(message) ?? { case: undefined }) as Details;
  const error = create(ServiceErrorSchema, { service: 'compute', code, details });
  const any = { ...anyPack(ServiceErrorSchema, error), typeUrl: 'type.googleapis.com/nebius.common.v1.ServiceError' };
  return create(StatusSchema, { code: GRPC[status], message, details: [any] });
}

/** The same as the answer to a call. */
export function refusalAnswer({ code, message }: Pick<Refusal, 'code' | 'message'>): Response {
  const status = failure(code, message);
  const told: GrpcRefusal = { code: status.code, text: message, details: toBinary(StatusSchema, status) };
  return grpcRefusal(told);
}

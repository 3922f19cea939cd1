import { fromBinary } from '@bufbuild/protobuf';
import { plainMessage } from '#core/answer.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import { GRPC } from '#core/unary.ts';
import { type ServiceError, ServiceErrorSchema, type Status, StatusSchema } from './gen/nebius_pb.ts';

type Told = Pick<Status, 'code' | 'message' | 'details'>;

const KINDS: Readonly<Record<number, FaultKind>> = {
  [GRPC.INVALID_ARGUMENT]: 'invalid',
  [GRPC.OUT_OF_RANGE]: 'invalid',
  [GRPC.FAILED_PRECONDITION]: 'invalid',
  [GRPC.NOT_FOUND]: 'missing',
  [GRPC.ALREADY_EXISTS]: 'conflict',
  [GRPC.ABORTED]: 'conflict',
  [GRPC.PERMISSION_DENIED]: 'denied',
  [GRPC.UNAUTHENTICATED]: 'unauthenticated',
  [GRPC.RESOURCE_EXHAUSTED]: 'throttled',
  [GRPC.UNIMPLEMENTED]: 'unsupported',
};

type Detail = NonNullable<ServiceError['details']['case']>;

// RESOURCE_EXHAUSTED stands for three things, and FAILED_PRECONDITION for more: the detail tells them apart.
const BY_DETAIL: Readonly<Partial<Record<Detail, FaultKind>>> = {
  quotaFailure: 'quota',
  notEnoughResources: 'exhausted',
  tooManyRequests: 'throttled',
  badRequest: 'invalid',
  badResourceState: 'conflict',
  resourceConflict: 'conflict',
  operationConflict: 'conflict',
  operationAborted: 'conflict',
  internalError: 'unavailable',
};

// Where there is no detail: the words, in this order.
const BY_WORDS: readonly (readonly [RegExp, FaultKind])[] = [
  [/quota/i, 'quota'],
  [/too many requests|rate limit/i, 'throttled'],
  [/not enough|no capacity|insufficient|out of (?:capacity|stock)/i, 'exhausted'],
];

const REMEDIES: Readonly<Partial<Record<FaultKind, string>>> = {
  quota: 'Raise the quota of the project in the console of Nebius (Administration, Limits), or lower max_agents.',
  exhausted: 'Wait, or offer another preset, platform or region.',
  denied: 'Give the service account the role editor in the project.',
  unauthenticated: 'Set a valid NEBIUS_IAM_TOKEN, or the key of a service account.',
  conflict: 'Wait until Nebius has finished what it does with the instance.',
};

const THROTTLED_MS = 5_000;
const CONFLICT_MS = 2_000;
const RETRY_AFTER_MS: Readonly<Partial<Record<FaultKind, number>>> = { throttled: THROTTLED_MS, conflict: CONFLICT_MS };

/** The detail of Nebius among those of a status. */
export function serviceErrorOf({ details }: Pick<Status, 'details'>): ServiceError | undefined {
  const any = details.find(({ typeUrl }) => typeUrl.endsWith('/nebius.common.v1.ServiceError'));
  try {
    return any && fromBinary(ServiceErrorSchema, any.value);
  } catch {
    return undefined;
  }
}

/** The details of a refused call. */
export function statusOf(code: number, text: string, details: Uint8Array | undefined): Told {
  try {
    const status = details && fromBinary(StatusSchema, details);
    return { code, message: text || (status?.message ?? ''), details: status?.details ?? [] };
  } catch {
    return { code, message: text, details: [] };
  }
}

/** What exactly is wrong: the field and the rule, the quota and its limit. */
function violationsIn({ details }: ServiceError): string {
  switch (details.case) {
    case 'badRequest':
      return details.value.violations.map(({ field, message }) => `${field}: ${message}`).join('; ');
    case 'quotaFailure':
      return details.value.violations
        .map(({ quota, limit, requested }) => `${quota}: ${requested || '?'} of ${limit || '?'}`)
        .join('; ');
    case 'notEnoughResources':
      return details.value.violations.map(({ resourceType, message }) => message || resourceType).join('; ');
    case 'tooManyRequests':
      return details.value.violation;
    case 'badResourceState':
    case 'resourceConflict':
      return details.value.message;
    default:
      return '';
  }
}

const NAMES = new Map<number, string>(Object.entries(GRPC).map(([name, code]) => [code, name]));

function kindOf({ code, message }: Told, error: ServiceError | undefined): FaultKind {
  const detail = error?.details.case;
  const byDetail = detail && BY_DETAIL[detail];
  if (byDetail) return byDetail;
  const byWords = code === GRPC.RESOURCE_EXHAUSTED ? BY_WORDS.find(([words]) => words.test(message))?.[1] : undefined;
  return byWords ?? KINDS[code] ?? 'unavailable';
}

/** A refusal of Nebius, of a call or in the end of an operation, as what it is. */
export function faultOf(what: string, told: Told): Fault {
  const error = serviceErrorOf(told);
  const kind = kindOf(told, error);
  const exactly = error ? violationsIn(error) : '';
  const isSaid = told.message.includes(exactly);
  const parts = [NAMES.get(told.code) ?? String(told.code), error?.code, told.message, isSaid ? '' : exactly];
  const said = plainMessage(parts.filter((part) => part).join(': '));
  return new Fault(kind, `${what} failed: ${said}`, {
    remedy: REMEDIES[kind],
    retryAfterMs: RETRY_AFTER_MS[kind],
    cause: { code: told.code, error },
  });
}

/** Whether a creation was refused because there is one of that name. */
export const isAlreadyThere = ({ cause }: Fault): boolean =>
  (cause as { readonly code?: number } | undefined)?.code === GRPC.ALREADY_EXISTS;

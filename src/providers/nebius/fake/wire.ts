import { type DescMessage, fromBinary, type JsonValue, type MessageShape, toJson } from '@bufbuild/protobuf';
import type { WireCall } from '#fakes/failure-rules.ts';
import { unframed } from '#fakes/grpc.ts';
import * as pb from '../gen/nebius_pb.ts';
import { type Violation, violationsIn } from './check-message.ts';
import { MESSAGES, REQUESTS } from './definition.gen.ts';
import { refused } from './refusals.ts';

/** A request to the fake Nebius. */
export interface NebiusCall extends WireCall {
  /** Of the method. */
  readonly path: string;
  readonly token: string;
  /** `x-idempotency-key` */
  readonly key: string | undefined;
  /** The message as JSON; empty where it holds another. */
  readonly body: Readonly<Record<string, JsonValue>>;
  readonly message: Uint8Array;
}

const INSTANCES = '/nebius.compute.v1.InstanceService';
const OPERATIONS = '/nebius.common.v1.OperationService';

const ACTIONS: Readonly<Record<string, readonly [action: string, schema: DescMessage]>> = {
  [`${INSTANCES}/Create`]: ['create', pb.CreateInstanceRequestSchema],
  [`${INSTANCES}/Delete`]: ['delete', pb.InstanceRequestSchema],
  [`${INSTANCES}/Start`]: ['start', pb.InstanceRequestSchema],
  [`${INSTANCES}/Stop`]: ['stop', pb.InstanceRequestSchema],
  [`${INSTANCES}/Get`]: ['get', pb.InstanceRequestSchema],
  [`${INSTANCES}/GetByName`]: ['getByName', pb.GetByNameRequestSchema],
  [`${INSTANCES}/BatchGet`]: ['batchGet', pb.BatchGetRequestSchema],
  [`${INSTANCES}/List`]: ['list', pb.ListInstancesRequestSchema],
  [`${OPERATIONS}/Get`]: ['operation', pb.GetOperationRequestSchema],
  [`${OPERATIONS}/List`]: ['operations', pb.ListOperationsRequestSchema],
  '/nebius.compute.v1.PlatformService/List': ['platforms', pb.ListPlatformsRequestSchema],
  '/nebius.compute.v1.ImageService/GetLatestByFamily': ['image', pb.GetLatestImageRequestSchema],
  '/nebius.iam.v1.TokenExchangeService/Exchange': ['exchange', pb.ExchangeTokenRequestSchema],
  '/nebius.billing.v1.CalculatorService/EstimateBatch': ['estimate', pb.EstimateRequestSchema],
};

export const PATHS: readonly string[] = Object.keys(ACTIONS);

const HOLDS_ANOTHER = new Set(['estimate']);

/** The message of a call, of the type that the caller expects there. */
export function read<Schema extends DescMessage>(schema: Schema, { message }: NebiusCall): MessageShape<Schema> {
  try {
    return fromBinary(schema, message);
  } catch {
    throw refused('BadRequest', `request: is no ${schema.typeName}`);
  }
}

/** Refuses a request that does not fit Nebius's definition of it. */
export function refuseViolations({ path, message }: NebiusCall): void {
  refuseIn(REQUESTS[path] ?? '', message);
}

/** The same for a message inside another one. */
export function refuseIn(type: string, message: Uint8Array): void {
  const definition = MESSAGES[type];
  if (!definition) return;
  let violations: readonly Violation[];
  try {
    violations = violationsIn(message, definition, { definitions: MESSAGES, path: '' });
  } catch {
    throw refused('BadRequest', `request: is no ${type}`);
  }
  if (violations.length > 0)
    throw refused('BadRequest', violations.map(({ field, message: text }) => `${field}: ${text}`).join('; '));
}

function shown(action: string, schema: DescMessage, message: Uint8Array): NebiusCall['body'] {
  if (HOLDS_ANOTHER.has(action)) return {};
  try {
    return toJson(schema, fromBinary(schema, message)) as NebiusCall['body'];
  } catch {
    return {};
  }
}

export async function readCall(request: Request): Promise<NebiusCall> {
  const { pathname: path } = new URL(request.url);
  const [action, schema] = ACTIONS[path] ?? ['unknown', undefined];
  const message = unframed(new Uint8Array(await request.arrayBuffer())) ?? new Uint8Array();
  return {
    service: 'api',
    region: '',
    action,
    path,
    token: /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '',
    key: request.headers.get('x-idempotency-key') ?? undefined,
    body: schema ? shown(action, schema, message) : {},
    message,
  };
}

import { urlOf } from './instance.ts';
import type { ComputeState } from './state.ts';

export interface FakeError {
  readonly code: string;
  readonly message: string;
}

export interface FakeOperation {
  readonly name: string;
  readonly id: string;
  readonly project: string;
  readonly place: string;
  readonly type: string;
  readonly target: string;
  readonly requestId: string | undefined;
  readonly madeAtMs: number;
  readonly doneAtMs: number;
  readonly error: FakeError | undefined;
  /** Of a bulkInsert: what it came to. */
  readonly bulk?: { readonly zone: string; readonly asked: number; readonly made: number } | undefined;
}

type Wanted = Pick<FakeOperation, 'project' | 'place' | 'type' | 'target' | 'bulk'> & {
  readonly requestId?: string | undefined;
  readonly doneInMs: number;
  readonly error?: FakeError | undefined;
};

export function beginOperation(state: ComputeState, { doneInMs, requestId, error, ...wanted }: Wanted): FakeOperation {
  const madeAtMs = state.clock.now();
  const id = state.nextId();
  const operation = {
    ...wanted,
    id,
    name: `operation-${id}`,
    requestId,
    error,
    madeAtMs,
    doneAtMs: madeAtMs + doneInMs,
  };
  state.operations.set(operation.name, operation);
  if (requestId !== undefined) state.requests.set(requestId, operation);
  return operation;
}

const STATUS_OF_ERROR = 503;

function shownBulk({ bulk }: FakeOperation, isDone: boolean): object {
  if (!bulk) return {};
  const { zone, asked, made } = bulk;
  const status = {
    status: isDone ? 'DONE' : 'CREATING',
    targetVmCount: asked,
    createdVmCount: isDone ? made : 0,
    failedToCreateVmCount: isDone ? asked - made : 0,
    deletedVmCount: 0,
  };
  return { instancesBulkInsertOperationMetadata: { perLocationStatus: { [`zones/${zone}`]: status } } };
}

export function shownOperation(operation: FakeOperation, nowMs: number): Readonly<Record<string, unknown>> {
  const { name, id, project, place, type, target, requestId, madeAtMs, doneAtMs, error } = operation;
  const isDone = nowMs >= doneAtMs;
  const [places = ''] = place.split('/');
  return {
    kind: 'compute#operation',
    id,
    name,
    operationType: type,
    status: isDone ? 'DONE' : 'RUNNING',
    progress: isDone ? 100 : 0,
    insertTime: new Date(madeAtMs).toISOString(),
    startTime: new Date(madeAtMs).toISOString(),
    ...(isDone && { endTime: new Date(doneAtMs).toISOString() }),
    ...(requestId !== undefined && { clientOperationId: requestId }),
    [places.slice(0, -1)]: urlOf(project, place),
    selfLink: urlOf(project, `${place}/operations/${name}`),
    targetLink: urlOf(project, target),
    ...shownBulk(operation, isDone),
    ...(isDone && error && { error: { errors: [error] }, httpErrorStatusCode: STATUS_OF_ERROR }),
  };
}

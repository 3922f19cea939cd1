import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '#core/clock.ts';
import type { OperationSchema, Status } from '../gen/nebius_pb.ts';
import { refused } from './refusals.ts';

export interface FakeOperation {
  readonly id: string;
  readonly resource: string;
  readonly description: string;
  readonly begunMs: number;
  readonly endsMs: number;
  /** How it fails. */
  readonly failure: Status | undefined;
}

export interface FakeOperations {
  begin(given: Omit<FakeOperation, 'id' | 'begunMs'>): FakeOperation;
  get(id: string): FakeOperation;
  /** The newest first. */
  of(resource: string): FakeOperation[];
  /** Nebius carries out one operation on a resource at a time. */
  refuseWhileBusy(resource: string): void;
  shown(operation: FakeOperation): MessageInitShape<typeof OperationSchema>;
}

export function openFakeOperations(clock: Clock): FakeOperations {
  const all = new Map<string, FakeOperation>();
  const byResource = new Map<string, FakeOperation[]>();
  const of = (resource: string): FakeOperation[] => (byResource.get(resource) ?? []).toReversed();
  return {
    begin(given) {
      const operation = { ...given, id: `computeoperation-${all.size + 1}`, begunMs: clock.now() };
      all.set(operation.id, operation);
      byResource.set(given.resource, [...(byResource.get(given.resource) ?? []), operation]);
      return operation;
    },
    get(id) {
      const operation = all.get(id);
      if (!operation) throw refused('ResourceNotFound', id);
      return operation;
    },
    of,
    refuseWhileBusy(resource) {
      if (of(resource).some(({ endsMs }) => endsMs > clock.now())) throw refused('OperationConflict', resource);
    },
    shown({ id, resource, description, begunMs, endsMs, failure }) {
      const isOver = endsMs <= clock.now();
      return {
        id,
        description,
        resourceId: resource,
        createdAt: timestampFromMs(begunMs),
        ...(isOver && { finishedAt: timestampFromMs(endsMs), status: failure ?? { code: 0 } }),
      };
    },
  };
}

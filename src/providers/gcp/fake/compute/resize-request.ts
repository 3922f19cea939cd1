import { urlOf } from './instance.ts';
import type { FakeError } from './operations.ts';

/** Instances that a group waits for, all of them or none. */
export interface FakeResizeRequest {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  /** Of the instances that will come. */
  readonly names: readonly string[];
  /** The caller has named them. */
  readonly isNamed: boolean;
  readonly runForMs: number | undefined;
  readonly madeAtMs: number;
  /** Why it was not granted the last time. */
  lastError: FakeError | undefined;
  outcome:
    | { readonly atMs: number; readonly state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED'; readonly error?: FakeError }
    | undefined;
}

export const isOver = ({ outcome }: FakeResizeRequest, nowMs: number): boolean =>
  outcome !== undefined && outcome.atMs <= nowMs;

const TAKEN_IN_MS = 500;

export function stateOf(request: FakeResizeRequest, nowMs: number): string {
  if (request.outcome && isOver(request, nowMs)) return request.outcome.state;
  return nowMs < request.madeAtMs + TAKEN_IN_MS ? 'CREATING' : 'ACCEPTED';
}

/** As the API shows it. */
export function shownRequest(
  request: FakeResizeRequest,
  { project, place, name: group }: { readonly project: string; readonly place: string; readonly name: string },
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const { id, name, description, names, isNamed, runForMs, madeAtMs, lastError, outcome } = request;
  const [places = ''] = place.split('/');
  const isFailed = outcome?.error && isOver(request, nowMs);
  const errorsOf = (error: FakeError) => ({ error: { errors: [error] } });
  return {
    kind: 'compute#instanceGroupManagerResizeRequest',
    id,
    name,
    ...(description !== undefined && { description }),
    creationTimestamp: new Date(madeAtMs).toISOString(),
    [places.slice(0, -1)]: urlOf(project, place),
    selfLink: urlOf(project, `${place}/instanceGroupManagers/${group}/resizeRequests/${name}`),
    ...(isNamed ? { instances: names.map((each) => ({ name: each })) } : { resizeBy: names.length }),
    ...(runForMs !== undefined && { requestedRunDuration: { seconds: String(runForMs / 1_000), nanos: 0 } }),
    state: stateOf(request, nowMs),
    status: {
      ...(isFailed && outcome.error && errorsOf(outcome.error)),
      ...(lastError && { lastAttempt: errorsOf(lastError) }),
    },
  };
}

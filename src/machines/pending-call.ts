import type { Fault } from '#core/fault.ts';

/** State of an in-flight create, delete, suspend or resume call. A restart forgets it; all times are on the monotonic clock. */
export interface PendingCall {
  isCalling: boolean;
  /** Number of attempts, sent or not. */
  attempts: number;
  notBeforeMs: number;
  /** When the cloud agreed. */
  agreedMs?: number;
}

/** How far one launch has come. */
export interface PendingLaunch extends PendingCall {
  /** Number of sent calls: the cloud may have received each of them. */
  calls: number;
  /** When the last of those ended; absent while no call was sent. */
  endedMs?: number;
  /** Why a repeat of it was refused: it is not called again. */
  refusal?: Fault;
  /** By operation: when its cloud was last asked about it. */
  readonly checkedMs: Map<string, number>;
}

/** The calls in flight for the machines of one feature: launches by their id, the others by the id of the row. */
export interface PendingCalls {
  readonly launches: Map<string, PendingLaunch>;
  readonly deletions: Map<string, PendingCall>;
  /** To suspend or to resume, whichever was asked for last. */
  readonly parkings: Map<string, PendingCall>;
}

export const noCalls = (): PendingCalls => ({ launches: new Map(), deletions: new Map(), parkings: new Map() });

/** One more attempt begins. */
export function beginCall(calls: Map<string, PendingCall>, id: string): PendingCall {
  const call = calls.get(id) ?? { isCalling: false, attempts: 0, notBeforeMs: 0 };
  call.isCalling = true;
  call.attempts += 1;
  calls.set(id, call);
  return call;
}

/** The cloud agreed. */
export function callAgreed(call: PendingCall, nowMs: number): void {
  call.isCalling = false;
  call.agreedMs = nowMs;
  call.attempts = 0;
}

/** Of a launch that no cloud has heard of. */
export const newLaunch = (): PendingLaunch => ({
  isCalling: false,
  calls: 0,
  attempts: 0,
  notBeforeMs: 0,
  checkedMs: new Map(),
});

/** The outcome of a launch of an earlier process is unknown here. */
export function pendingLaunch({ launches }: PendingCalls, id: string, startedMs: number): PendingLaunch {
  let call = launches.get(id);
  if (!call) {
    call = { ...newLaunch(), calls: 1, attempts: 1, endedMs: startedMs };
    launches.set(id, call);
  }
  return call;
}

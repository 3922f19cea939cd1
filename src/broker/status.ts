import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { tame } from '#wire/foreign-text.ts';

const LONGEST_STATUS_TEXT = 1_024;

/** How a call ends, for grpc-js. */
export interface CallStatus {
  readonly code: number;
  readonly details: string;
}

/** The status that a caller gets; an internal error shows no details. */
export function grpcStatusOf(fault: Fault): CallStatus {
  const { grpc: code } = FAULTS[fault.kind];
  if (fault.kind === 'internal') return { code, details: 'Internal server error. See the log of the server.' };
  // A status travels as a URI, which cannot have half a surrogate pair.
  return { code, details: tame(`${fault.message} ${fault.remedy}`, LONGEST_STATUS_TEXT) };
}

/** The status for what a method threw; a bug of ours is logged. */
export function statusOfThrown(thrown: unknown, path: string, log: Log): CallStatus {
  const fault = Fault.from(thrown);
  if (fault.kind === 'internal') log('error', 'gRPC call failed', { path, error: fault.message, stack: fault.stack });
  return grpcStatusOf(fault);
}

// The way of a request through any fake cloud: read, recorded, failed by a rule or answered, refused in its own words.
import type { Clock } from '#core/clock.ts';
import { type CallFailure, type FailureRules, openFailureRules, suffer, type WireCall } from './failure-rules.ts';
import { isRefusal, type Refusal } from './refusal.ts';

/** A call that reached the fake. */
export interface RecordedCall extends WireCall {
  readonly atMs: number;
  /** `ok`, the code of the refusal, or the kind of the failure; `open` while it is not over. */
  outcome: string;
}

/** What each cloud does in its own way. */
export interface Protocol<Call extends WireCall, Recorded extends RecordedCall> {
  read(request: Request): Promise<Call>;
  /** What tests may read of the call afterwards. */
  record(call: Call, atMs: number): Recorded;
  /** Throws a refusal where the cloud would refuse; `signal` ends when the client goes away. */
  answer(call: Call, signal: AbortSignal): Response | Promise<Response>;
  refuse(call: Call, refused: Refusal): Response;
  /** The cloud's refusal of a call that exceeds a limit. */
  tooMuch(call: Call): Error;
}

export interface Answering<Call extends WireCall, Recorded extends RecordedCall> {
  /** Rejects where no answer would arrive. */
  handle(request: Request): Promise<Response>;
  readonly fetch: typeof fetch;
  /** The oldest first; the latest 20,000 at most. */
  readonly calls: Recorded[];
  /** Number of calls of an action since the start. */
  countOf(action: string): number;
  readonly failureRules: FailureRules<Call>;
}

const MOST_CALLS = 20_000;

export function openAnswering<Call extends WireCall, Recorded extends RecordedCall>(
  protocol: Protocol<Call, Recorded>,
  clock: Clock,
): Answering<Call, Recorded> {
  const failureRules = openFailureRules<Call>();
  const counts = new Map<string, number>();
  const calls: Recorded[] = [];
  const countOf = (action: string): number => counts.get(action) ?? 0;

  function note(recorded: Recorded): void {
    counts.set(recorded.action, countOf(recorded.action) + 1);
    calls.push(recorded);
    if (calls.length > MOST_CALLS) calls.splice(0, MOST_CALLS / 2);
  }

  async function carryOut(call: Call, what: CallFailure | undefined, signal: AbortSignal): Promise<Response> {
    const answer = async (): Promise<Response> => protocol.answer(call, signal);
    if (!what) return answer();
    return suffer(what, { clock, signal, tooMuch: () => protocol.tooMuch(call) }, answer);
  }

  async function handle(request: Request): Promise<Response> {
    const call = await protocol.read(request);
    const recorded = protocol.record(call, clock.now());
    note(recorded);
    const what = failureRules.take(call);
    if (what) recorded.outcome = what.kind;
    try {
      const response = await carryOut(call, what, request.signal);
      if (recorded.outcome === 'open') recorded.outcome = 'ok';
      return response;
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      recorded.outcome = thrown.code;
      return protocol.refuse(call, thrown);
    }
  }

  return { handle, fetch: (input, init) => handle(new Request(input, init)), calls, countOf, failureRules };
}

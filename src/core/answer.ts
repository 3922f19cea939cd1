// What an answer of a cloud means: faults by HTTP status, Retry-After, and an end to waiting.
import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault, type FaultKind } from '#core/fault.ts';

const BY_STATUS: Readonly<Record<number, FaultKind>> = {
  401: 'unauthenticated',
  403: 'denied',
  404: 'missing',
  // No answer in time: what was done is unknown.
  408: 'unavailable',
  409: 'conflict',
  410: 'missing',
  412: 'conflict',
  429: 'throttled',
  501: 'unsupported',
};

/** What a status other than success means where the cloud has no better word for it. */
export function kindOfStatus(status: number): FaultKind {
  return BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'invalid' : 'unavailable');
}

const LONGEST_WAIT_MS = 15 * 60_000;

/** `Retry-After` in seconds or as a date; nothing where it is absent or makes no sense. */
export function retryAfterMs(header: string | null | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_WAIT_MS, Math.max(0, ms));
}

const LONGEST_MESSAGE = 400;

/** A message of a cloud on one line, of a length that people read. */
export function plainMessage(text: string): string {
  const short = text.replace(/\s+/g, ' ').trim();
  return short.length > LONGEST_MESSAGE ? `${short.slice(0, LONGEST_MESSAGE)}…` : short;
}

/** The messages of an error and of its causes: `fetch failed` alone says nothing. */
export function messagesOf(thrown: unknown): string {
  const messages: string[] = [];
  for (let at: unknown = thrown; at instanceof Error && messages.length < 3; at = at.cause) messages.push(at.message);
  return messages.join(': ') || String(thrown);
}

export interface Patience {
  readonly clock: Clock;
  /** For messages: `DescribeInstances in us-west-2`. */
  readonly what: string;
  readonly withinMs: number;
}

/** Runs until it answers, its time is over or the caller gives up; whatever ignores its signal is left behind. */
export function answered<T>(
  { clock, what, withinMs }: Patience,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const giveUp = (why: string): void => {
      const fault = new Fault('unavailable', `${what} ${why}.`);
      finish();
      ending.abort(fault);
      reject(fault);
    };
    const abandoned = (): void => giveUp('was cancelled');
    const cancel = clock.alarm(withinMs, () => giveUp(`did not answer within ${formatDuration(withinMs)}`));
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', abandoned);
    };
    if (signal.aborted) return abandoned();
    signal.addEventListener('abort', abandoned, { once: true });
    run(ending.signal).then(resolve, reject).finally(finish);
  });
}

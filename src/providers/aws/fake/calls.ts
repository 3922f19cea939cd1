import type { Service, WireCall } from './wire/read-call.ts';

/** A call that reached AWS, and what came of it. */
export interface Call {
  readonly service: Service;
  readonly action: string;
  readonly region: string;
  readonly accessKey: string | undefined;
  /** As the wire had them: `MaxCount: '3'` for EC2, JSON values for SSM. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  /** `ok`, the code of the refusal, or what went wrong on the way; `open` while it is not over. */
  outcome: string;
}

export function callOf(call: WireCall, atMs: number): Call {
  const { service, action, region, accessKey, body } = call;
  return { service, action, region, accessKey, parameters: body, atMs, outcome: 'open' };
}

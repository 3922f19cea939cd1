import { Fault } from '#core/fault.ts';

/** What a fake cloud answers when it refuses: the cloud's own code and text, and the status of the HTTP reply. */
export interface Refusal extends Fault {
  readonly code: string;
  readonly status: number;
}

/** Throw the result; the fake turns it into the error form of its protocol. */
export function refusal(code: string, message: string, status = 400): Refusal {
  return Object.assign(new Fault('invalid', message), { code, status });
}

export function isRefusal(thrown: unknown): thrown is Refusal {
  return thrown instanceof Fault && 'code' in thrown && 'status' in thrown;
}

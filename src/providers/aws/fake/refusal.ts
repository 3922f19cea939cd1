import { Fault } from '#core/fault.ts';

/** What AWS answers when it will not: its own code, its own words, the status of its HTTP reply. */
export interface Refusal extends Fault {
  readonly code: string;
  readonly status: number;
}

/** Throw what this answers; the wire turns it into the error form of the protocol that was spoken. */
export function refusal(code: string, message: string, status = 400): Refusal {
  return Object.assign(new Fault('invalid', message), { code, status });
}

export function isRefusal(thrown: unknown): thrown is Refusal {
  return thrown instanceof Fault && 'code' in thrown && 'status' in thrown;
}

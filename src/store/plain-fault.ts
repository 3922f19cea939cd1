import { Fault, type FaultKind } from '#core/fault.ts';

/** A fault as it travels between threads; its cause stays behind. */
export interface PlainFault {
  readonly kind: FaultKind;
  readonly message: string;
  readonly at: string | undefined;
  readonly remedy: string;
}

export function plainFault(thrown: unknown): PlainFault {
  const { kind, message, at, remedy } = Fault.from(thrown);
  return { kind, message, at, remedy };
}

export function faultFrom({ kind, message, at, remedy }: PlainFault): Fault {
  return new Fault(kind, message, { at, remedy });
}

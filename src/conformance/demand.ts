import { Fault } from '#core/fault.ts';

/** A broken law says which one. */
export function demand(isKept: unknown, otherwise: string): void {
  if (!isKept)
    throw new Fault('internal', otherwise, { remedy: 'Correct the implementation; its contract states the law.' });
}

/** Both hold the same names, each once, in any order. */
export function sameNames(found: readonly string[], wanted: readonly string[], law: string): void {
  const missing = wanted.filter((name) => !found.includes(name));
  const surplus = found.filter((name, at) => !wanted.includes(name) || found.indexOf(name) !== at);
  const detail = `missing: ${missing.slice(0, 3).join(', ') || 'none'}; too many: ${surplus.slice(0, 3).join(', ') || 'none'}`;
  demand(missing.length + surplus.length === 0, `${law} (${detail})`);
}

/** The fault of a call that must not succeed. */
export async function demandFault(call: Promise<unknown>, otherwise: string): Promise<Fault> {
  const thrown = await call.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  demand(thrown !== undefined, otherwise);
  demand(thrown instanceof Fault, `threw something that is no Fault: ${String(thrown)}`);
  return thrown as Fault;
}

// What creations of clouds have in common that make one machine a request, or have no idempotency key.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Launch, Outcome, PendingCreate } from '#core/provider.ts';

/**
 * Asks for each machine of a launch by itself. A name that is left out of the outcomes says that it is not known what
 * became of it; where that is so of all, the first fault is thrown.
 */
export async function createEach(
  { names }: Launch,
  signal: AbortSignal,
  createOne: (name: string) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
  const lost: Fault[] = [];
  const tried = names.map((name) =>
    createOne(name).catch((thrown): Outcome[] => {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) return [{ name, fault }];
      lost.push(fault);
      return [];
    }),
  );
  const outcomes = (await Promise.all(tried)).flat();
  if (outcomes.length === 0 && lost[0]) throw lost[0];
  return outcomes;
}

/**
 * Asks how each operation ended, with the names that it is to make. One that the cloud has forgotten is unknown; one that
 * could not be asked about stays pending, and where that is so of all, the first fault is thrown.
 */
export async function checkEach(
  pending: readonly PendingCreate[],
  signal: AbortSignal,
  checkOne: (operation: string, names: readonly string[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  if (signal.aborted) throw new Fault('unavailable', 'The check was cancelled.');
  const faults: Fault[] = [];
  const byOperation = [...Map.groupBy(pending, ({ operation }) => operation)];
  const checked = byOperation.map(([operation, some]) =>
    checkOne(
      operation,
      some.map(({ name }) => name),
    ).catch((thrown): readonly Outcome[] => {
      const fault = Fault.from(thrown);
      if (fault.kind === 'missing') return [];
      faults.push(fault);
      return some;
    }),
  );
  const outcomes = (await Promise.all(checked)).flat();
  if (faults[0] && faults.length === byOperation.length) throw faults[0];
  return outcomes;
}

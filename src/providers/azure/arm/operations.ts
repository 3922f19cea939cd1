// Long-running operations: Azure agrees first, and tells at an address of its own how that ended.
import type { Outcome, PendingCreate } from '#core/provider.ts';
import { checkEach } from '#rest/creations.ts';
import { type ArmError, faultOfOperation } from '../azure-fault.ts';
import type { Arm } from './client.ts';

/** Where a long-running operation stands. */
export interface Operation {
  readonly status: string;
  readonly error?: ArmError;
}

const RUNNING = /^(inprogress|accepted|running|creating|pending)$/i;
const FAILED = /^(failed|canceled)$/i;

/** Where to ask how what an answer has agreed to will end. */
export const operationIn = ({ headers }: Response): string | undefined =>
  headers.get('azure-asyncoperation') ?? undefined;

/** How creations ended. */
export function checkCreations(
  { askAt }: Pick<Arm, 'askAt'>,
  pending: readonly PendingCreate[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  return checkEach(pending, signal, async (operation, names) => {
    const { status, error } = await askAt<Operation>(operation, signal);
    if (RUNNING.test(status)) return names.map((name) => ({ name, operation }));
    if (!FAILED.test(status)) return names.map((name) => ({ name }));
    return names.map((name) => ({ name, fault: faultOfOperation(error, `The creation of ${name}`) }));
  });
}

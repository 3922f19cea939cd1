// The error form of Azure Resource Manager.
import type { Explained } from '#rest/client.ts';

interface ArmError {
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** What Azure's words mean; `denied` is the remedy where a right is missing. */
export function explainArm(status: number, body: unknown, denied: string): Explained | undefined {
  const { code, message = '' } = ((body ?? {}) as ArmError).error ?? {};
  if (code === undefined) return undefined;
  const words = `${code}: ${message}`;
  return status === 403 ? { message: words, remedy: denied } : { message: words };
}

// The error form of Google's APIs: cloud.google.com/apis/design/errors.
import type { Explained } from '#rest/client.ts';

interface ErrorDetail {
  readonly reason?: string;
}

interface GoogleError {
  readonly message?: string;
  readonly status?: string;
  /** Those of google.rpc. */
  readonly details?: readonly ErrorDetail[];
  /** The same in the older form. */
  readonly errors?: readonly ErrorDetail[];
}

const RATE = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED', 'RESOURCE_EXHAUSTED']);

/** What Google's words mean; `denied` is the remedy where a right is missing. */
export function explainGoogle(status: number, body: unknown, denied: string, service: string): Explained | undefined {
  const { error } = (body ?? {}) as { readonly error?: GoogleError };
  if (typeof error !== 'object') return undefined;
  const { message } = error;
  const reasons = new Set([...(error.details ?? []), ...(error.errors ?? [])].map(({ reason }) => reason));
  if ([...reasons, error.status].some((reason) => reason !== undefined && RATE.has(reason)))
    return { kind: 'throttled', message };
  if (reasons.has('SERVICE_DISABLED'))
    return { message, remedy: `Enable the API in the project: gcloud services enable ${service}.` };
  if (reasons.has('ACCESS_TOKEN_SCOPE_INSUFFICIENT'))
    return { message, remedy: 'Give the machine or node pool of the server the access scope cloud-platform.' };
  return status === 403 ? { message, remedy: denied } : { message };
}

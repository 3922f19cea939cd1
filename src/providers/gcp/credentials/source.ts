import type { Context } from '#core/provider.ts';
import type { Token } from '#rest/tokens.ts';

/** Asks for a new access token. */
export type TokenSource = (signal: AbortSignal) => Promise<Token>;

export type SourceContext = Pick<Context, 'fetch' | 'clock' | 'variable'>;

// The second lets Kubernetes know who it is by mail address: without it RBAC sees only a number.
export const SCOPES = [
  'https://www.googleapis.com/auth/cloud-platform',
  'https://www.googleapis.com/auth/userinfo.email',
];

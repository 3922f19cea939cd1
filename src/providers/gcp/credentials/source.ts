import type { Context } from '#core/provider.ts';
import { type RestOptions, type RestRequest, restClient } from '#rest/client.ts';
import type { Token } from '#rest/tokens.ts';

/** Asks for a new access token. */
export type TokenSource = (signal: AbortSignal) => Promise<Token>;

export type SourceContext = Pick<Context, 'fetch' | 'clock' | 'variable'>;

// The second lets Kubernetes know who it is by mail address: without it RBAC sees only a number.
export const SCOPES = [
  'https://www.googleapis.com/auth/cloud-platform',
  'https://www.googleapis.com/auth/userinfo.email',
];

/** What every token endpoint of Google answers. */
export interface OauthAnswer {
  readonly access_token?: string;
  readonly expires_in?: number;
}

interface Question extends Omit<RestRequest, 'path'> {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
  readonly explain?: RestOptions['explain'];
}

/** One question to a full address, as these stand in files of credentials. */
export function askAt<T>({ fetch, clock }: SourceContext, question: Question, signal: AbortSignal): Promise<T> {
  const { url, headers = {}, withinMs, explain, ...request } = question;
  const { origin, host, pathname, searchParams } = new URL(url);
  const ask = restClient({
    fetch,
    clock,
    base: origin,
    cloud: host,
    headers: async () => headers,
    ...(withinMs !== undefined && { withinMs }),
    ...(explain && { explain }),
  });
  return ask<T>(
    { ...request, path: pathname, query: { ...Object.fromEntries(searchParams), ...request.query } },
    signal,
  );
}

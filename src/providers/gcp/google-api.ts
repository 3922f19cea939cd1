import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import type { RestOptions, RestRequest } from '#rest/client.ts';
import { type CloudClient, cloudClient } from '#rest/cloud-client.ts';
import type { RequestLimit } from '#rest/limits.ts';
import { openTokens } from '#rest/tokens.ts';
import { defaultCredentials } from './credentials/default.ts';

export interface GoogleApiOptions {
  readonly context: Pick<Context, 'fetch' | 'clock' | 'variable' | 'rates'>;
  /** Where the paths of requests begin. */
  readonly base: string;
  /** An emulator: it gets no credentials. */
  readonly isEmulator: boolean;
  readonly files?: WatchedFiles | undefined;
  readonly explain: NonNullable<RestOptions['explain']>;
  readonly rates?: readonly RequestLimit<RestRequest>[];
}

/** One of Google's APIs, asked by application default credentials. */
export interface GoogleApi extends CloudClient {
  close(): void;
}

export function openGoogleApi({ context, isEmulator, files, rates = [], ...options }: GoogleApiOptions): GoogleApi {
  const { clock } = context;
  const closing = new AbortController();
  const source = defaultCredentials(context, files);
  const tokens = openTokens({ clock, renew: () => source(closing.signal) });
  const { host } = new URL(options.base);
  const auth = isEmulator ? undefined : tokens;
  const factor = context.rates?.gcp;
  return {
    ...cloudClient({ ...options, context, cloud: host, auth, rates, factor }),
    close: () => closing.abort(),
  };
}

/** How Google names the next page of a listing. */
export const nextPage = ({ nextPageToken: pageToken }: { readonly nextPageToken?: string }) =>
  pageToken && { pageToken };

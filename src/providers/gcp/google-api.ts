import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { authorizedClient } from '#rest/authorized-client.ts';
import type { Ask, RestOptions } from '#rest/client.ts';
import { openTokens } from '#rest/tokens.ts';
import { defaultCredentials } from './credentials/default.ts';

export interface GoogleApiOptions {
  readonly context: Pick<Context, 'fetch' | 'clock' | 'variable'>;
  /** Where the paths of requests begin. */
  readonly base: string;
  /** An emulator: it gets no credentials. */
  readonly isEmulator: boolean;
  readonly files?: WatchedFiles | undefined;
  readonly explain: NonNullable<RestOptions['explain']>;
}

/** One of Google's APIs, asked by application default credentials. */
export interface GoogleApi {
  readonly ask: Ask;
  /** For messages: who is asked. */
  readonly host: string;
  close(): void;
}

export function openGoogleApi({ context, base, isEmulator, files, explain }: GoogleApiOptions): GoogleApi {
  const { clock, fetch } = context;
  const closing = new AbortController();
  const source = defaultCredentials(context, files);
  const tokens = openTokens({ clock, renew: () => source(closing.signal) });
  const { host } = new URL(base);
  const shown = isEmulator ? undefined : tokens;

  return {
    host,
    ask: authorizedClient({ fetch, clock, base, cloud: host, tokens: shown, explain }),
    close: () => closing.abort(),
  };
}

import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { type Ask, type RestOptions, type RestRequest, restClient } from '#rest/client.ts';
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

  /** One request, and the token that it was sent with. */
  async function send<T>(request: RestRequest, signal: AbortSignal, sent: { token: string }): Promise<T> {
    const once = restClient({
      fetch,
      clock,
      base,
      cloud: host,
      async headers() {
        if (isEmulator) return {};
        sent.token = await tokens.get();
        return { authorization: `Bearer ${sent.token}` };
      },
      explain,
    });
    return once<T>(request, signal);
  }

  return {
    host,
    async ask<T>(request: RestRequest, signal: AbortSignal): Promise<T> {
      const sent = { token: '' };
      try {
        return await send<T>(request, signal, sent);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        // A token can be revoked before its end: it is then replaced, once.
        if (fault.kind !== 'unauthenticated' || sent.token === '') throw fault;
        tokens.refused(sent.token);
        return send<T>(request, signal, sent);
      }
    },
    close: () => closing.abort(),
  };
}

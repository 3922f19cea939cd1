import { Fault } from '#core/fault.ts';
import { type Ask, type RestOptions, type RestRequest, restClient } from './client.ts';
import type { Tokens } from './tokens.ts';

export interface AuthorizedOptions extends Omit<RestOptions, 'headers'> {
  /** Absent where credentials must not be shown: a simulation or an emulator, asked in clear. */
  readonly tokens: Tokens<string> | undefined;
  /** Beside the token. */
  headers?(): Readonly<Record<string, string>>;
}

/** A client that shows a token. One can be revoked before its end: it is then replaced, once a request. */
export function authorizedClient({ tokens, headers = () => ({}), ...options }: AuthorizedOptions): Ask {
  function send<T>(request: RestRequest, signal: AbortSignal, sent: { token: string }): Promise<T> {
    const once = restClient({
      ...options,
      async headers() {
        if (!tokens) return headers();
        sent.token = await tokens.get();
        return { ...headers(), authorization: `Bearer ${sent.token}` };
      },
    });
    return once<T>(request, signal);
  }

  return async <T>(request: RestRequest, signal: AbortSignal): Promise<T> => {
    const sent = { token: '' };
    try {
      return await send<T>(request, signal, sent);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'unauthenticated' || sent.token === '') throw fault;
      tokens?.refused(sent.token);
      return send<T>(request, signal, sent);
    }
  };
}

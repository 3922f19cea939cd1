// The JSON API of Cloud Storage, as far as a reader needs it.
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { type Ask, type RestRequest, restClient } from '#rest/client.ts';
import { openTokens } from '#rest/tokens.ts';
import { defaultCredentials } from '../credentials/default.ts';
import { explainGoogle } from '../google-fault.ts';
import type { GcsConfig } from './config.ts';

/** The variable by which Google's own clients find an emulator; they show it no credentials. */
export const EMULATOR_VARIABLE = 'STORAGE_EMULATOR_HOST';

const GOOGLE = 'https://storage.googleapis.com';

export interface StorageApi {
  readonly ask: Ask;
  /** For messages: who is asked. */
  readonly host: string;
  close(): void;
}

interface Place {
  readonly base: string;
  readonly isEmulator: boolean;
}

function placeFor({ endpoint }: GcsConfig, context: Context): Place {
  if (endpoint) return { base: endpoint, isEmulator: false };
  const emulator = context.variable?.(EMULATOR_VARIABLE);
  if (!emulator) return { base: GOOGLE, isEmulator: false };
  // With or without a scheme, as in Google's clients.
  return { base: /^https?:\/\//.test(emulator) ? emulator : `http://${emulator}`, isEmulator: true };
}

const remedyFor = (bucket: string): string =>
  `Grant the server's account roles/storage.objectViewer: gcloud storage buckets add-iam-policy-binding gs://${bucket} --member=serviceAccount:ACCOUNT --role=roles/storage.objectViewer.`;

export function openStorageApi(config: GcsConfig, context: Context, files?: WatchedFiles): StorageApi {
  const { base, isEmulator } = placeFor(config, context);
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
      base: `${base.replace(/\/+$/, '')}/storage/v1`,
      cloud: host,
      async headers() {
        if (isEmulator) return {};
        sent.token = await tokens.get();
        return { authorization: `Bearer ${sent.token}` };
      },
      explain: (status, body) => explainGoogle(status, body, remedyFor(config.bucket), 'storage.googleapis.com'),
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

// The JSON API of Cloud Storage, as far as a reader needs it.
import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { type GoogleApi, openGoogleApi } from '../google-api.ts';
import { explainGoogle } from '../google-fault.ts';
import type { GcsConfig } from './config.ts';

/** The variable by which Google's own clients find an emulator; they show it no credentials. */
export const EMULATOR_VARIABLE = 'STORAGE_EMULATOR_HOST';

const GOOGLE = 'https://storage.googleapis.com';

export type StorageApi = GoogleApi;

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
  return openGoogleApi({
    context,
    files,
    isEmulator,
    base: `${base.replace(/\/+$/, '')}/storage/v1`,
    explain: (status, body) => explainGoogle(status, body, remedyFor(config.bucket), 'storage.googleapis.com'),
  });
}

// Application default credentials, in the order of Google's own libraries: a file that is named, the file of gcloud, then
// the metadata server. Their library, with 20 packages, is loaded only for the rarer kinds.
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { openWatchedFiles, type WatchedFiles } from '#kube/watched-files.ts';
import { retried } from '#rest/retry.ts';
import { authorizedUserSource } from './authorized-user.ts';
import { externalAccountSource } from './external-account.ts';
import { type CredentialFile, readCredentialFile } from './file.ts';
import { impersonation } from './impersonation.ts';
import { foreignAccountSource } from './library.ts';
import { metadataSource } from './metadata.ts';
import { serviceAccountSource } from './service-account.ts';
import type { SourceContext, TokenSource } from './source.ts';

interface Deps {
  readonly context: SourceContext;
  readonly files: WatchedFiles;
}

function sourceOf(file: CredentialFile, deps: Deps): TokenSource {
  const { context } = deps;
  switch (file.type) {
    case 'service_account':
      return serviceAccountSource(file, context);
    case 'authorized_user':
      return authorizedUserSource(file, context);
    case 'external_account':
      return externalAccountSource(file, deps);
    case 'foreign_account':
      return foreignAccountSource(file, deps);
    case 'impersonated_service_account': {
      const { serviceAccountImpersonationUrl: url, delegates, sourceCredentials } = file;
      return impersonation({ url, delegates }, sourceOf(sourceCredentials, deps), context);
    }
  }
}

interface Found {
  readonly path: string;
  readonly text: string;
}

function usualPath({ variable }: SourceContext): string | undefined {
  const [folder, home] = [variable?.('CLOUDSDK_CONFIG'), variable?.('HOME')];
  const gcloud = folder || (home && join(home, '.config', 'gcloud'));
  return gcloud && join(gcloud, 'application_default_credentials.json');
}

async function findFile({ context, files }: Deps): Promise<Found | undefined> {
  const named = context.variable?.('GOOGLE_APPLICATION_CREDENTIALS');
  if (named) {
    const text = await files.read(named).catch((thrown) => {
      const { kind, message } = Fault.from(thrown);
      throw new Fault(kind, `GOOGLE_APPLICATION_CREDENTIALS: ${message}`, { at: named, cause: thrown });
    });
    return { path: named, text };
  }
  const path = usualPath(context);
  const text = path && (await files.readIfThere(path));
  return path && text ? { path, text } : undefined;
}

function nothingFound(context: SourceContext, fault: Fault): Fault {
  const usual = usualPath(context) ?? '~/.config/gcloud (HOME is not set)';
  const looked = `GOOGLE_APPLICATION_CREDENTIALS (not set); ${usual} (no such file); the metadata server`;
  return new Fault(fault.kind, `No credentials for Google Cloud. Looked for: ${looked}: ${fault.message}`, {
    cause: fault,
    retryAfterMs: fault.retryAfterMs,
    remedy: 'Set GOOGLE_APPLICATION_CREDENTIALS, or run the server on Google Cloud with a service account.',
  });
}

/** The files are read anew for each token: a key that was replaced counts from the next renewal. */
export function defaultCredentials(
  context: SourceContext,
  files: WatchedFiles = openWatchedFiles(context.clock),
): TokenSource {
  const deps = { context, files };
  const metadata = metadataSource(context);
  return async (signal) => {
    deps.files.forget();
    const found = await findFile(deps);
    if (found) {
      const source = sourceOf(readCredentialFile(found.path, found.text), deps);
      return retried(context.clock, signal, () => source(signal));
    }
    return retried(context.clock, signal, () => metadata(signal)).catch((thrown) => {
      throw nothingFound(context, Fault.from(thrown));
    });
  };
}

// Rarer sources of a workload's token (AWS, a program, a certificate) by Google's own library, loaded only for such a file.
import { answered, messagesOf, plainMessage } from '#core/answer.ts';
import { Fault } from '#core/fault.ts';
import { type ExternalDeps, externalAccountSource } from './external-account.ts';
import type { ForeignAccount } from './file.ts';
import { SCOPES, type SourceContext, type TokenSource } from './source.ts';

const WITHIN_MS = 60_000;
const LEAST_LIFE_MS = 300_000;

type Library = typeof import('google-auth-library');

async function load(): Promise<Library> {
  const loaded = await import('google-auth-library');
  // A bundle in several files has only the default of a CommonJS module; Node has both.
  return (loaded as { default?: Library }).default ?? loaded;
}

/** What the library says of a failure; its requests, which hold tokens, are not shown. */
function refusalOf(thrown: unknown, from: string): Fault {
  const { status } = (thrown ?? {}) as { readonly status?: unknown };
  const isRefused = typeof status !== 'number' || (status >= 400 && status < 500);
  const said = plainMessage(messagesOf(thrown));
  return new Fault(isRefused ? 'unauthenticated' : 'unavailable', `The token from ${from} was not granted: ${said}`, {
    remedy:
      from === 'executable'
        ? 'Set GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 for the server, and check what the program prints.'
        : 'Check the provider of the workload identity pool, and the credentials of this machine that it trusts.',
  });
}

function clientOf({ ExternalAccountClient }: Library, json: object, { fetch }: SourceContext) {
  const options = { ...json, scopes: SCOPES, transporterOptions: { fetchImplementation: fetch } };
  const client = ExternalAccountClient.fromJSON(options as Parameters<typeof ExternalAccountClient.fromJSON>[0]);
  if (client) return client;
  throw new Fault('invalid', 'The credentials name no source of a token that is known.');
}

/**
 * The library gets the workload's own token; we exchange it as any other. One that a certificate proves is exchanged by the
 * library too, since the certificate must be shown there.
 */
export function foreignAccountSource({ account, from, json }: ForeignAccount, deps: ExternalDeps): TokenSource {
  const { context } = deps;

  function byLibrary<T>(signal: AbortSignal, run: (client: ReturnType<typeof clientOf>) => Promise<T>): Promise<T> {
    const patience = { clock: context.clock, what: `a token from ${from}`, withinMs: WITHIN_MS };
    const running = answered(patience, signal, async () => run(clientOf(await load(), json, context)));
    return running.catch((thrown) => {
      throw thrown instanceof Fault ? thrown : refusalOf(thrown, from);
    });
  }

  if (from !== 'certificate') {
    const subjectOf = (signal: AbortSignal) => byLibrary(signal, (client) => client.retrieveSubjectToken());
    return externalAccountSource(account, deps, subjectOf);
  }
  return (signal) =>
    byLibrary(signal, async (client) => {
      const { token } = await client.getAccessToken();
      if (!token) throw new Fault('unavailable', 'Google answered without an access token.');
      return { value: token, expiresAt: client.credentials.expiry_date ?? context.clock.now() + LEAST_LIFE_MS };
    });
}

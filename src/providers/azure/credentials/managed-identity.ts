// The identity of the machine: learn.microsoft.com/entra/identity/managed-identities-azure-resources.
import { Fault } from '#core/fault.ts';
import { askAt } from '#rest/ask-at.ts';
import { type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import type { SourceDeps, TokenSource } from './source.ts';

// The same address on every machine of Azure; where there is none, nothing answers.
const HOST = '169.254.169.254';
const WITHIN_MS = 5_000;

export function managedIdentitySource({ context }: SourceDeps): TokenSource {
  const clientId = context.variable?.('AZURE_CLIENT_ID') || undefined;
  return async (resource, signal) => {
    const question = {
      url: `http://${HOST}/metadata/identity/oauth2/token`,
      query: { 'api-version': '2018-02-01', resource, client_id: clientId },
      headers: { metadata: 'true' },
      withinMs: WITHIN_MS,
    };
    const answer = await askAt<OauthAnswer>(context, question, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      // With 400 it says that the machine has no such identity.
      if (fault.kind !== 'invalid') throw fault;
      throw new Fault('unauthenticated', `The machine has no such managed identity: ${fault.message}`, {
        cause: fault,
        remedy: 'Assign an identity to the machine; for one of several, set AZURE_CLIENT_ID for the server.',
      });
    });
    return tokenOf(answer, context.clock, HOST);
  };
}

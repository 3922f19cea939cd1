// The identity of the machine: learn.microsoft.com/entra/identity/managed-identities-azure-resources.
import { Fault } from '#core/fault.ts';
import { askAt } from '#rest/ask-at.ts';
import { type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import type { SourceDeps, TokenSource } from './source.ts';

// The same address on every machine of Azure; where there is none, nothing answers.
const HOST = '169.254.169.254';
const WITHIN_MS = 5_000;

/** App Service, Functions and Container Apps have an endpoint of their own: learn.microsoft.com/azure/app-service/overview-managed-identity. */
function endpointOf({ context }: SourceDeps) {
  const [url, secret] = [context.variable?.('IDENTITY_ENDPOINT'), context.variable?.('IDENTITY_HEADER')];
  if (url && secret) return { url, version: '2019-08-01', headers: { 'x-identity-header': secret } };
  const machine = `http://${HOST}/metadata/identity/oauth2/token`;
  return { url: machine, version: '2018-02-01', headers: { metadata: 'true' } };
}

export function managedIdentitySource(deps: SourceDeps): TokenSource {
  const { context } = deps;
  const clientId = context.variable?.('AZURE_CLIENT_ID') || undefined;
  const { url, version, headers } = endpointOf(deps);
  return async (resource, signal) => {
    const query = { 'api-version': version, resource, client_id: clientId };
    const question = { url, query, headers, withinMs: WITHIN_MS };
    const answer = await askAt<OauthAnswer>(context, question, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      // With 400 it says that the machine has no such identity.
      if (fault.kind !== 'invalid') throw fault;
      throw new Fault('unauthenticated', `The machine has no such managed identity: ${fault.message}`, {
        cause: fault,
        remedy: 'Assign an identity to the machine; for one of several, set AZURE_CLIENT_ID for the server.',
      });
    });
    return tokenOf(answer, context.clock, new URL(url).host);
  };
}

// Tokens of Microsoft Entra for an application, by its secret or by a token that Kubernetes gave to our pod:
// learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow.
import { askAt } from '#rest/ask-at.ts';
import { explainOauth, type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import type { SourceDeps, TokenSource } from './source.ts';

export interface Application {
  readonly tenantId: string;
  readonly clientId: string;
  /** `https://login.microsoftonline.com`. */
  readonly authority: string;
}

/** What proves that it is us. */
interface Proof {
  readonly fields: () => Promise<Readonly<Record<string, string>>>;
  readonly remedy: string;
}

function applicationSource(
  { tenantId, clientId, authority }: Application,
  proof: Proof,
  deps: SourceDeps,
): TokenSource {
  const { context } = deps;
  const url = `${authority}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
  return async (resource, signal) => {
    const form = {
      grant_type: 'client_credentials',
      client_id: clientId,
      scope: `${resource}/.default`,
      ...(await proof.fields()),
    };
    const explain = (_status: number, body: unknown) => explainOauth(body, proof.remedy);
    const answer = await askAt<OauthAnswer>(context, { method: 'POST', url, form, explain }, signal);
    return tokenOf(answer, context.clock, url);
  };
}

export function clientSecretSource(application: Application, secret: string, deps: SourceDeps): TokenSource {
  const remedy = 'Renew the secret of the application, and set AZURE_CLIENT_SECRET for the server.';
  return applicationSource(application, { fields: async () => ({ client_secret: secret }), remedy }, deps);
}

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export function workloadIdentitySource(application: Application, path: string, deps: SourceDeps): TokenSource {
  const remedy = 'Check the federated credential of the application: its issuer, subject and audience.';
  return applicationSource(
    application,
    {
      remedy,
      async fields() {
        // Kubernetes replaces it every hour.
        deps.files.forget();
        return { client_assertion_type: JWT_BEARER, client_assertion: (await deps.files.read(path)).trim() };
      },
    },
    deps,
  );
}

import { askAt } from '#rest/ask-at.ts';
import { explainOauth, type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import type { AuthorizedUser } from './file.ts';
import type { SourceContext, TokenSource } from './source.ts';

const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const REMEDY = 'Log in again: gcloud auth application-default login. For servers, use a service account.';

/** By the login of a person. */
export function authorizedUserSource(user: AuthorizedUser, context: SourceContext): TokenSource {
  const form = {
    grant_type: 'refresh_token',
    client_id: user.clientId,
    client_secret: user.clientSecret,
    refresh_token: user.refreshToken,
  };
  const explain = (_status: number, body: unknown) => explainOauth(body, REMEDY);
  return async (signal) => {
    const answer = await askAt<OauthAnswer>(context, { method: 'POST', url: TOKEN_URL, form, explain }, signal);
    return tokenOf(answer, context.clock, TOKEN_URL);
  };
}

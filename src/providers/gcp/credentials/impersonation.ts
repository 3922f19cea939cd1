import { Fault } from '#core/fault.ts';
import { askAt } from '#rest/ask-at.ts';
import { explainGoogle } from '../google-fault.ts';
import { SCOPES, type SourceContext, type TokenSource } from './source.ts';

interface Answer {
  readonly accessToken?: string;
  readonly expireTime?: string;
}

interface Whom {
  /** `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/A:generateAccessToken`. */
  readonly url: string;
  readonly delegates?: readonly string[];
}

const REMEDY =
  'Grant the server roles/iam.serviceAccountTokenCreator on the service account, or roles/iam.workloadIdentityUser.';

/** A token of a service account, for one who may act as it. */
export function impersonation({ url, delegates = [] }: Whom, own: TokenSource, context: SourceContext): TokenSource {
  return async (signal) => {
    const { value } = await own(signal);
    const question = {
      method: 'POST',
      url,
      headers: { authorization: `Bearer ${value}` },
      body: { scope: SCOPES, lifetime: '3600s', ...(delegates.length > 0 && { delegates }) },
      explain: (status: number, body: unknown) => explainGoogle(status, body, REMEDY, 'iamcredentials.googleapis.com'),
    } as const;
    const { accessToken, expireTime = '' } = await askAt<Answer>(context, question, signal);
    const expiresAt = Date.parse(expireTime);
    if (!accessToken || Number.isNaN(expiresAt))
      throw new Fault('unavailable', `${new URL(url).host} answered without an access token.`);
    return { value: accessToken, expiresAt };
  };
}

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { askAt } from '#rest/ask-at.ts';
import { explainOauth, type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import { signedJwt } from '#rest/signed-jwt.ts';
import type { ServiceAccount } from './file.ts';
import { SCOPES, type SourceContext, type TokenSource } from './source.ts';

const LIFE_SECONDS = 3_600;

function assertionOf({ clientEmail, privateKeyId, tokenUri }: ServiceAccount, key: KeyObject, nowMs: number): string {
  const iat = Math.floor(nowMs / SECOND_MS);
  const claims = { iss: clientEmail, scope: SCOPES.join(' '), aud: tokenUri, iat, exp: iat + LIFE_SECONDS };
  return signedJwt({ claims, keyId: privateKeyId, key });
}

function keyOf({ clientEmail, privateKey }: ServiceAccount): KeyObject {
  try {
    return createPrivateKey(privateKey);
  } catch {
    // What the library says may quote the key.
    throw new Fault('invalid', `The private_key of ${clientEmail} is no key in the form PEM.`, {
      remedy: 'Download the key of the service account anew.',
    });
  }
}

/** By the key of a service account. */
export function serviceAccountSource(account: ServiceAccount, context: SourceContext): TokenSource {
  const key = keyOf(account);
  return async (signal) => {
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertionOf(account, key, context.clock.now()),
    };
    const remedy = `Check that the key of ${account.clientEmail} is not deleted or disabled, and the clock of the server.`;
    const question = {
      method: 'POST',
      url: account.tokenUri,
      form,
      explain: (_status: number, body: unknown) => explainOauth(body, remedy),
    } as const;
    return tokenOf(await askAt<OauthAnswer>(context, question, signal), context.clock, account.tokenUri);
  };
}

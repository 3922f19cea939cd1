// An IAM token as it is given, or one that the key of a service account is exchanged for (RFC 8693).
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import { SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { openWatchedFiles, type WatchedFiles } from '#kube/watched-files.ts';
import { signedJwt } from '#rest/signed-jwt.ts';
import { fixedToken, openTokens, type Token, type Tokens } from '#rest/tokens.ts';
import type { ExchangeTokenRequestSchema } from './gen/nebius_pb.ts';

export const TOKEN_VARIABLE = 'NEBIUS_IAM_TOKEN';
export const KEY_VARIABLE = 'NEBIUS_SERVICE_ACCOUNT_KEY';

export interface CredentialsConfig {
  readonly iamToken?: string | undefined;
  readonly serviceAccountKey?: string | undefined;
}

/** Where the key of a service account is: in the configuration, or in a file that may be replaced. */
export type Credential = { readonly token: string } | KeyCredential;

type KeyCredential = { readonly key: string; readonly from: string } | { readonly file: string };

export function credentialFor({ iamToken, serviceAccountKey }: CredentialsConfig, context: Context): Credential {
  const variable = (name: string): string | undefined => context.variable?.(name) || undefined;
  if (iamToken) return { token: iamToken };
  if (serviceAccountKey) return { key: serviceAccountKey, from: 'service_account_key' };
  const token = variable(TOKEN_VARIABLE);
  if (token) return { token };
  const file = variable(KEY_VARIABLE);
  if (file) return { file };
  throw new Fault('unauthenticated', 'There are no credentials for Nebius.', {
    remedy: `Set ${TOKEN_VARIABLE} for the server, or ${KEY_VARIABLE} to the file of a service account's key.`,
  });
}

// As Nebius writes it when a key is made: `nebius iam auth-public-key generate --output`.
const KeyFile = z.object({
  'subject-credentials': z.object({
    alg: z.literal('RS256'),
    'private-key': z.string(),
    kid: z.string().min(1),
    iss: z.string().min(1),
    sub: z.string().min(1),
  }),
});

interface ServiceAccount {
  readonly id: string;
  readonly keyId: string;
  readonly key: KeyObject;
}

const REMEDY = 'Give the JSON with "subject-credentials" that Nebius wrote when the key was made.';

function read(text: string, from: string): ServiceAccount {
  try {
    const { 'subject-credentials': found } = KeyFile.parse(JSON.parse(text));
    return { id: found.sub, keyId: found.kid, key: createPrivateKey(found['private-key']) };
  } catch {
    // What the libraries say may quote the key.
    throw new Fault('invalid', `${from} holds no key of a service account of Nebius.`, { remedy: REMEDY });
  }
}

const LIFE_MS = 60_000;
const TYPE = 'urn:ietf:params:oauth:token-type';

type Question = MessageInitShape<typeof ExchangeTokenRequestSchema>;

function questionOf({ id, keyId, key }: ServiceAccount, nowMs: number): Question {
  const iat = Math.floor(nowMs / SECOND_MS);
  const claims = { iss: id, sub: id, iat, exp: iat + LIFE_MS / SECOND_MS };
  return {
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requestedTokenType: `${TYPE}:access_token`,
    subjectToken: signedJwt({ claims, keyId, key }),
    subjectTokenType: `${TYPE}:jwt`,
  };
}

export type Exchange = (question: Question) => Promise<Token>;

async function accountIn(credential: KeyCredential, files: WatchedFiles): Promise<ServiceAccount> {
  if ('key' in credential) return read(credential.key, credential.from);
  files.forget();
  return read(await files.read(credential.file), `${KEY_VARIABLE} (${credential.file})`);
}

/** Tokens of a credential; a file is read anew for each, so that a key that was replaced counts from then on. */
export function openCredential(credential: Credential, { clock }: Context, exchange: Exchange): Tokens<string> {
  if ('token' in credential) return fixedToken(credential.token);
  const files = openWatchedFiles(clock);
  const renew = async () => exchange(questionOf(await accountIn(credential, files), clock.now()));
  return openTokens({ clock, renew });
}

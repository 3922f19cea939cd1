// Workload identity federation: the token of another system is exchanged for one of Google's (RFC 8693).
import { Fault } from '#core/fault.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { askAt } from '#rest/ask-at.ts';
import { explainOauth, type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import type { ExternalAccount } from './file.ts';
import { impersonation } from './impersonation.ts';
import { SCOPES, type SourceContext, type TokenSource } from './source.ts';

const REMEDY = 'Check the provider of the workload identity pool: its issuer, audience and attribute conditions.';

type Source = ExternalAccount['credentialSource'];

async function readFrom(
  { file, url, headers }: Source,
  { context, files }: ExternalDeps,
  signal: AbortSignal,
): Promise<unknown> {
  if (file !== undefined) return files.read(file);
  if (url !== undefined) return askAt(context, { url, ...(headers && { headers }), isText: true }, signal);
  throw new Fault('invalid', 'The credentials name neither a file nor a url for the token of the workload.');
}

export interface ExternalDeps {
  readonly context: SourceContext;
  readonly files: WatchedFiles;
}

function fieldOf(read: unknown, { format, file, url }: Source): string {
  const text = String(read).trim();
  if (format?.type !== 'json') return text;
  const field = format.subjectTokenFieldName ?? 'access_token';
  const place = file ?? url;
  try {
    const value = (JSON.parse(text) as Readonly<Record<string, unknown>>)[field];
    if (typeof value === 'string') return value;
  } catch {
    throw new Fault('invalid', `The token of the workload in ${place} is no JSON.`);
  }
  throw new Fault('invalid', `The token of the workload in ${place} has no field ${field}.`);
}

/** By the identity that another system has given to this process; `subjectOf` asks that system in another way. */
export function externalAccountSource(
  account: ExternalAccount,
  deps: ExternalDeps,
  subjectOf?: (signal: AbortSignal) => Promise<string>,
): TokenSource {
  const { context } = deps;
  const { audience, credentialSource, tokenUrl, subjectTokenType } = account;

  async function subjectNow(signal: AbortSignal): Promise<string> {
    deps.files.forget();
    return fieldOf(await readFrom(credentialSource, deps, signal), credentialSource);
  }

  async function exchanged(signal: AbortSignal) {
    const subject = await (subjectOf ?? subjectNow)(signal);
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience,
      scope: SCOPES.join(' '),
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: subject,
      subject_token_type: subjectTokenType,
    };
    const explain = (_status: number, body: unknown) => explainOauth(body, REMEDY);
    const answer = await askAt<OauthAnswer>(context, { method: 'POST', url: tokenUrl, form, explain }, signal);
    return tokenOf(answer, context.clock, tokenUrl);
  }

  const url = account.serviceAccountImpersonationUrl;
  return url === undefined ? exchanged : impersonation({ url }, exchanged, context);
}

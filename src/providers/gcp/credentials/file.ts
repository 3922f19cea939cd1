// The files of application default credentials: cloud.google.com/docs/authentication/application-default-credentials.
import { z } from 'zod';
import { Fault } from '#core/fault.ts';

const url = () => z.url({ protocol: /^https?$/ });

const ServiceAccount = z.object({
  type: z.literal('service_account'),
  clientEmail: z.string().min(1),
  privateKey: z.string().min(1),
  privateKeyId: z.string().optional(),
  tokenUri: url().default('https://oauth2.googleapis.com/token'),
});

const AuthorizedUser = z.object({
  type: z.literal('authorized_user'),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  refreshToken: z.string().min(1),
});

const ExternalAccount = z.object({
  type: z.literal('external_account'),
  audience: z.string().min(1),
  subjectTokenType: z.string().min(1),
  tokenUrl: url(),
  credentialSource: z.object({
    file: z.string().optional(),
    url: url().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    format: z.object({ type: z.enum(['text', 'json']), subjectTokenFieldName: z.string().optional() }).optional(),
  }),
  serviceAccountImpersonationUrl: url().optional(),
});

const Plain = z.discriminatedUnion('type', [ServiceAccount, AuthorizedUser, ExternalAccount]);

const Impersonated = z.object({
  type: z.literal('impersonated_service_account'),
  serviceAccountImpersonationUrl: url(),
  delegates: z.array(z.string()).default([]),
  sourceCredentials: Plain,
});

const CredentialFile = z.discriminatedUnion('type', [ServiceAccount, AuthorizedUser, ExternalAccount, Impersonated]);

export type ServiceAccount = z.output<typeof ServiceAccount>;
export type AuthorizedUser = z.output<typeof AuthorizedUser>;
export type ExternalAccount = z.output<typeof ExternalAccount>;
export type Impersonated = z.output<typeof Impersonated>;
/** An external account whose token comes from AWS, a program or a certificate, by Google's own library. */
export interface ForeignAccount {
  readonly type: 'foreign_account';
  /** The key of `credential_source` that names the source. */
  readonly from: string;
  readonly account: ExternalAccount;
  /** As it stands in the file. */
  readonly json: object;
}
export type CredentialFile = z.output<typeof CredentialFile> | ForeignAccount;

const KINDS = ['service_account', 'authorized_user', 'external_account', 'impersonated_service_account'];

function camelKeys(value: unknown, at = ''): unknown {
  // The names of headers are no keys of ours.
  if (typeof value !== 'object' || value === null || Array.isArray(value) || at === 'headers') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      camelKeys(inner, key),
    ]),
  );
}

function jsonIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads such a file; no message shows what stands in it, for all of it may be secret. */
export function readCredentialFile(path: string, text: string): CredentialFile {
  const remedy = 'Write it with gcloud auth application-default login, or download the key of a service account.';
  const json = jsonIn(text);
  if (!json) throw new Fault('invalid', `The credentials ${path} are no JSON.`, { at: path, remedy });
  const type = String(json.type ?? '');
  if (!KINDS.includes(type))
    throw new Fault('unsupported', `The credentials ${path} are of the type "${type}".`, {
      at: path,
      remedy: `Use one of: ${KINDS.join(', ')}.`,
    });
  const source = json.credential_source as Readonly<Record<string, unknown>> | undefined;
  const from = ['environment_id', 'executable', 'certificate'].find((key) => source?.[key] !== undefined);
  const { data, error } = CredentialFile.safeParse(camelKeys(json));
  if (data?.type === 'external_account' && from !== undefined)
    return { type: 'foreign_account', from, account: data, json };
  if (data) return data;
  const keys = error.issues.map(({ path: keyPath }) => keyPath.join('.')).join(', ');
  throw new Fault('invalid', `Missing or invalid keys in ${path}: ${keys}.`, { at: path, remedy });
}

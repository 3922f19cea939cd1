// In the order of Azure's own library, which is 40 MB: the environment, workload identity, the machine's
// identity, then the login of az.
import { Fault } from '#core/fault.ts';
import { retried } from '#rest/retry.ts';
import { type Application, clientSecretSource, workloadIdentitySource } from './entra.ts';
import { managedIdentitySource } from './managed-identity.ts';
import type { SourceDeps, TokenSource } from './source.ts';

const AUTHORITY = 'https://login.microsoftonline.com';

// The part of Azure that an authority logs in to: learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure.
const MANAGEMENT: Readonly<Record<string, string>> = {
  'login.microsoftonline.com': 'https://management.azure.com',
  'login.microsoftonline.us': 'https://management.usgovcloudapi.net',
  'login.chinacloudapi.cn': 'https://management.chinacloudapi.cn',
  'login.partner.microsoftonline.cn': 'https://management.chinacloudapi.cn',
};

export interface AzureLogin {
  readonly token: TokenSource;
  /** The Resource Manager of that part of Azure. */
  readonly management: string;
}

function authorityOf({ context }: SourceDeps): string {
  const written = context.variable?.('AZURE_AUTHORITY_HOST') || AUTHORITY;
  const full = /^https:\/\//.test(written) ? written : `https://${written}`;
  if (URL.canParse(full) && new URL(full).host in MANAGEMENT) return new URL(full).origin;
  throw new Fault('unsupported', `AZURE_AUTHORITY_HOST names ${written}, which is no known part of Azure.`, {
    remedy: `Use one of: ${Object.keys(MANAGEMENT).join(', ')}.`,
  });
}

function chosen(authority: string, deps: SourceDeps): TokenSource {
  const read = (name: string): string | undefined => deps.context.variable?.(name) || undefined;
  const [tenantId, clientId] = [read('AZURE_TENANT_ID'), read('AZURE_CLIENT_ID')];
  const [secret, file] = [read('AZURE_CLIENT_SECRET'), read('AZURE_FEDERATED_TOKEN_FILE')];
  const application: Application | undefined = tenantId && clientId ? { tenantId, clientId, authority } : undefined;
  if (application && secret) return clientSecretSource(application, secret, deps);
  if (application && file) return workloadIdentitySource(application, file, deps);
  const proof = secret ? 'AZURE_CLIENT_SECRET' : file && 'AZURE_FEDERATED_TOKEN_FILE';
  if (proof)
    throw new Fault('invalid', `${proof} is set, and ${tenantId ? 'AZURE_CLIENT_ID' : 'AZURE_TENANT_ID'} is not.`, {
      remedy: 'Set all three for the server, or none.',
    });
  return managedIdentity(deps);
}

function managedIdentity(deps: SourceDeps): TokenSource {
  const source = managedIdentitySource(deps);
  return (resource, signal) =>
    source(resource, signal).catch(async (thrown) => {
      const fault = Fault.from(thrown);
      // Only where nothing answers this is no machine of Azure.
      const token = fault.kind === 'unavailable' ? await deps.cli?.(resource, signal) : undefined;
      if (token) return token;
      const looked =
        'AZURE_CLIENT_SECRET (not set); AZURE_FEDERATED_TOKEN_FILE (not set); az; the identity of the machine';
      throw new Fault(fault.kind, `No credentials for Azure. Looked for: ${looked}: ${fault.message}`, {
        cause: fault,
        retryAfterMs: fault.retryAfterMs,
        remedy:
          fault.kind === 'unauthenticated'
            ? fault.remedy
            : 'Set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or run the server on Azure.',
      });
    });
}

export function defaultLogin(deps: SourceDeps): AzureLogin {
  const authority = authorityOf(deps);
  const source = chosen(authority, deps);
  return {
    management: MANAGEMENT[new URL(authority).host] as string,
    token: (resource, signal) => retried(deps.context.clock, signal, () => source(resource, signal)),
  };
}

// In the order of Azure's own library, which is 40 MB: the environment, workload identity, the machine's
// identity, then the login of az.
import { Fault } from '#core/fault.ts';
import { retried } from '#rest/retry.ts';
import { type Application, clientSecretSource, workloadIdentitySource } from './entra.ts';
import { managedIdentitySource } from './managed-identity.ts';
import type { SourceDeps, TokenSource } from './source.ts';

const AUTHORITY = 'https://login.microsoftonline.com';

/** The addresses of one part of Azure. */
interface Part {
  /** The Resource Manager. */
  readonly management: string;
  /** What tokens for App Configuration are for; its stores are at hosts of their own. */
  readonly appConfiguration: string;
}

const CHINA: Part = {
  management: 'https://management.chinacloudapi.cn',
  appConfiguration: 'https://appconfig.azure.cn',
};

// The part that an authority logs in to: learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure.
const PARTS: Readonly<Record<string, Part>> = {
  'login.microsoftonline.com': {
    management: 'https://management.azure.com',
    appConfiguration: 'https://appconfig.azure.com',
  },
  'login.microsoftonline.us': {
    management: 'https://management.usgovcloudapi.net',
    appConfiguration: 'https://appconfig.azure.us',
  },
  'login.chinacloudapi.cn': CHINA,
  'login.partner.microsoftonline.cn': CHINA,
};

export interface AzureLogin extends Part {
  readonly token: TokenSource;
}

function authorityOf({ context }: SourceDeps): string {
  const written = context.variable?.('AZURE_AUTHORITY_HOST') || AUTHORITY;
  const full = /^https:\/\//.test(written) ? written : `https://${written}`;
  if (URL.canParse(full) && new URL(full).host in PARTS) return new URL(full).origin;
  throw new Fault('unsupported', `AZURE_AUTHORITY_HOST names ${written}, which is no known part of Azure.`, {
    remedy: `Use one of: ${Object.keys(PARTS).join(', ')}.`,
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
    ...(PARTS[new URL(authority).host] as Part),
    token: (resource, signal) => retried(deps.context.clock, signal, () => source(resource, signal)),
  };
}

import { HOUR_MS } from '#core/clock.ts';
import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import type { Context } from '#core/provider.ts';
import { openWatchedFiles } from '#kube/watched-files.ts';
import { openRenewedAccess } from '#rest/renewed-access.ts';
import type { Token } from '#rest/tokens.ts';
import { cliToken } from '../credentials/cli.ts';
import { defaultLogin } from '../credentials/default.ts';
import type { SourceDeps } from '../credentials/source.ts';
import type { AksConfig } from './config.ts';
import { findCluster } from './find.ts';
import type { Kubeconfig } from './kubeconfig.ts';

// The application that stands for the API servers of all clusters with Entra: learn.microsoft.com/azure/aks/kubelogin-authentication.
const AKS_SERVER = '6dae42f8-4368-4678-94ff-3960e28e3630';

// Certificates of local accounts are good for two years; who rotates them should not have to tell us.
const READ_AGAIN_MS = 12 * HOUR_MS;

/** A cluster of AKS: address and authority from Azure, and a token of Entra, or its local account where it has no Entra. */
export async function openAks(config: AksConfig, context: Context, own?: Partial<SourceDeps>): Promise<ClusterAccess> {
  const { clock } = context;
  const login = defaultLogin({
    context,
    files: openWatchedFiles(clock),
    cli: (...given) => cliToken(clock, ...given),
    ...own,
  });
  const find = (signal: AbortSignal): Promise<Kubeconfig> => findCluster({ context, login }, config, signal);

  function localCredential({ local }: Kubeconfig): Token<ClusterCredential> | undefined {
    if (!local) return undefined;
    const headers = local.token ? { authorization: `Bearer ${local.token}` } : {};
    return { value: { headers, tls: local.tls }, expiresAt: clock.now() + READ_AGAIN_MS };
  }

  const found = await find(new AbortController().signal);
  const first = localCredential(found);

  async function entraCredential(signal: AbortSignal): Promise<Token<ClusterCredential>> {
    const { value, expiresAt } = await login.token(AKS_SERVER, signal);
    return { value: { headers: { authorization: `Bearer ${value}` }, tls: { ca: found.ca } }, expiresAt };
  }

  return openRenewedAccess({
    clock,
    server: found.server,
    first,
    renew: async (signal) => (first && localCredential(await find(signal))) ?? entraCredential(signal),
  });
}

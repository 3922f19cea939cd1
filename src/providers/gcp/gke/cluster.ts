import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import type { Context } from '#core/provider.ts';
import type { WatchedFiles } from '#kube/watched-files.ts';
import { openRenewedAccess } from '#rest/renewed-access.ts';
import type { Token } from '#rest/tokens.ts';
import { defaultCredentials } from '../credentials/default.ts';
import type { GkeConfig } from './config.ts';
import { addressOf } from './endpoint.ts';
import { containerApi, findCluster } from './find.ts';

/** A cluster of GKE: its address and authority from the Container API, its token from application default credentials. */
export async function openGke(config: GkeConfig, context: Context, files?: WatchedFiles): Promise<ClusterAccess> {
  const source = defaultCredentials(context, files);
  const first = await source(new AbortController().signal);
  const ask = containerApi(context, config.project, first.value);
  const { server, ca } = addressOf(await findCluster(ask, config, context), config.endpoint);
  const granted = ({ value, expiresAt }: Token): Token<ClusterCredential> => ({
    value: { headers: { authorization: `Bearer ${value}` }, tls: { ca } },
    expiresAt,
  });
  return openRenewedAccess({
    clock: context.clock,
    server,
    first: granted(first),
    renew: async (signal) => granted(await source(signal)),
  });
}

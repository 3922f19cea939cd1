import type { ClusterAccess } from '#core/cluster-access.ts';
import type { Context } from '#core/provider.ts';
import { openRenewedAccess } from '#rest/renewed-access.ts';
import { signingClient } from '../client.ts';
import type { EksConfig } from './config.ts';
import { findCluster } from './find.ts';
import { assumeRole } from './role.ts';
import { openSigning, type Signing } from './signed.ts';
import { eksToken } from './token.ts';

/** Signs as the server itself, or as the role that the configuration names. */
async function signingAs(config: EksConfig, context: Context, ending: AbortSignal): Promise<Signing> {
  const { roleArn } = config;
  const { clock } = context;
  const own = await openSigning(await signingClient(context, config), clock);
  if (roleArn === undefined) return own;
  // Without an end that the SDK would watch by its own clock: a new token asks for them anew.
  const credentials = () => assumeRole(own, roleArn, ending);
  return openSigning(await signingClient(context, { ...config, region: own.region }, credentials), clock);
}

/** A cluster of EKS: its address and authority from EKS, its token by a signature that STS can check. */
export async function openEks(config: EksConfig, context: Context): Promise<ClusterAccess> {
  const { clock } = context;
  const closing = new AbortController();
  const signing = await signingAs(config, context, closing.signal);
  const { server, ca } = await findCluster(signing, config.clusterName, clock);
  const access = openRenewedAccess({
    clock,
    server,
    async renew() {
      const { value, expiresAt } = await eksToken(signing, config.clusterName, clock);
      return { value: { headers: { authorization: `Bearer ${value}` }, tls: { ca } }, expiresAt };
    },
  });
  return {
    ...access,
    async close() {
      closing.abort();
      await access.close?.();
    },
  };
}

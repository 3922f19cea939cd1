// The token of EKS is a signed question to STS: who am I? github.com/kubernetes-sigs/aws-iam-authenticator, README.
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { Token } from '#rest/tokens.ts';
import { awsFault } from '../faults.ts';
import { urlOf } from '../http.ts';
import type { Signing } from './signed.ts';

const PREFIX = 'k8s-aws-v1.';
const URL_SECONDS = 60;
// The API server takes it for 15 minutes, however long the address itself is good.
const GOOD_FOR_MS = 14 * MINUTE_MS;

interface Credentials {
  readonly expiration?: Date | undefined;
}

/** A new token; asks for nothing over the network but the credentials of the server. */
export async function eksToken(signing: Signing, clusterName: string, clock: Clock): Promise<Token> {
  const { client, signer } = signing;
  // A refused token may come from keys that were replaced.
  const { expiration } = (await client.config.credentials({ forceRefresh: true }).catch((thrown) => {
    throw awsFault(thrown, { action: 'sts:GetCallerIdentity', region: signing.region });
  })) as Credentials;
  const host = signing.hostOf('sts');
  const request = {
    method: 'GET',
    protocol: 'https:',
    hostname: host,
    path: '/',
    query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
    headers: { host, 'x-k8s-aws-id': clusterName },
  };
  const signingDate = new Date(clock.now() + (client.config.systemClockOffset ?? 0));
  const signed = await signer.presign(request, { signingDate, signingService: 'sts', expiresIn: URL_SECONDS });
  const expiresAt = Math.min(clock.now() + GOOD_FOR_MS, expiration?.getTime() ?? Number.POSITIVE_INFINITY);
  return { value: `${PREFIX}${Buffer.from(urlOf(signed)).toString('base64url')}`, expiresAt };
}

// How the API server of a cluster checks a token, with the signature computed here anew: docs.aws.amazon.com/IAM/latest/
// UserGuide/reference_sigv-create-signed-request.html and github.com/kubernetes-sigs/aws-iam-authenticator.
import { Buffer } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { MINUTE_MS } from '#core/clock.ts';
import type { FakeAws } from '../fake-aws.ts';

const PREFIX = 'k8s-aws-v1.';
const GOOD_FOR_MS = 15 * MINUTE_MS;

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

function signatureOf(url: URL, clusterName: string, secret: string): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
  const headers = `host:${url.host}\nx-k8s-aws-id:${clusterName}\n`;
  const request = `GET\n/\n${query}\n${headers}\nhost;x-k8s-aws-id\n${hashed('')}`;
  const [, ...scope] = (url.searchParams.get('X-Amz-Credential') ?? '').split('/');
  const key = scope.reduce<Buffer | string>(hmac, `AWS4${secret}`);
  const text = `AWS4-HMAC-SHA256\n${url.searchParams.get('X-Amz-Date')}\n${scope.join('/')}\n${hashed(request)}`;
  return hmac(key, text).toString('hex');
}

/** Who presents it; undefined where the cluster refuses it. `ownSecret` is that of keys which STS did not give. */
export function presenterOf(fake: FakeAws, token: string, clusterName: string, ownSecret: string): string | undefined {
  if (!token.startsWith(PREFIX)) return undefined;
  const url = new URL(Buffer.from(token.slice(PREFIX.length), 'base64url').toString());
  const read = (name: string): string => url.searchParams.get(name) ?? '';
  const [accessKey = '', , region = '', service] = read('X-Amz-Credential').split('/');
  const isStrange =
    url.protocol !== 'https:' ||
    url.host !== `sts.${region}.amazonaws.com` ||
    service !== 'sts' ||
    read('Action') !== 'GetCallerIdentity' ||
    Number(read('X-Amz-Expires')) > 60 ||
    read('X-Amz-SignedHeaders') !== 'host;x-k8s-aws-id';
  const signedAt = Date.parse(read('X-Amz-Date').replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  const isOld = !(fake.world.clock.now() - signedAt < GOOD_FOR_MS);
  if (isStrange || isOld || !fake.principals.isKnown(accessKey)) return undefined;
  const secret = fake.world.secrets.get(accessKey) ?? ownSecret;
  if (signatureOf(url, clusterName, secret) !== read('X-Amz-Signature')) return undefined;
  return fake.principals.of(accessKey).arn;
}

// Signature Version 4 for requests that are posted to the root of a service: docs.aws.amazon.com/IAM/latest/UserGuide/
// reference_sigv-create-signed-request.html.
import { createHmac, hash } from 'node:crypto';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface Scope {
  readonly region: string;
  readonly service: string;
}

/** What is signed: these headers, all of them, and the body. */
export interface Signable {
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const canonical = (value: string): string => value.trim().replace(/ {2,}/g, ' ');

/** Answers the headers that make the request whole. */
export type Sign = (credentials: Credentials, signable: Signable) => Record<string, string>;

export function openSigner({ region, service }: Scope): Sign {
  let kept: { readonly secret: string; readonly day: string; readonly key: Buffer } | undefined;

  function keyFor(secret: string, day: string): Buffer {
    if (kept?.secret === secret && kept.day === day) return kept.key;
    const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`) as Buffer;
    kept = { secret, day, key };
    return key;
  }

  return ({ accessKeyId, secretAccessKey, sessionToken }, { headers, body, at }) => {
    const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');
    const day = time.slice(0, 8);
    const bodyHash = hash('sha256', body);
    const added = {
      'x-amz-content-sha256': bodyHash,
      'x-amz-date': time,
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    };
    const signed = Object.entries({ ...headers, ...added }).sort(([a], [b]) => (a < b ? -1 : 1));
    const names = signed.map(([name]) => name).join(';');
    const lines = signed.map(([name, value]) => `${name}:${canonical(value)}\n`).join('');
    const request = hash('sha256', `POST\n/\n\n${lines}\n${names}\n${bodyHash}`);
    const scope = `${day}/${region}/${service}/aws4_request`;
    const key = keyFor(secretAccessKey, day);
    const signature = hmac(key, `${ALGORITHM}\n${time}\n${scope}\n${request}`).toString('hex');
    const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...added, authorization };
  };
}

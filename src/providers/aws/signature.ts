// Signature Version 4 for requests that are posted to the root of a service: docs.aws.amazon.com/IAM/latest/UserGuide/
// reference_sigv-create-signed-request.html.

import { createHmac, hash } from 'node:crypto';
import { SECOND_MS } from '#core/clock.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** What all requests have in common. */
export interface Scope {
  readonly region: string;
  readonly service: string;
  /** Those that are signed, all of them, by names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Signable {
  readonly body: string;
  readonly at: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const canonical = (value: string): string => value.trim().replace(/ {2,}/g, ' ');

/** Remembers the last answer: requests of a second share their time, those of a day their key. */
function latest<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  let kept: { readonly key: Key; readonly value: Value } | undefined;
  return (key) => {
    if (kept?.key !== key) kept = { key, value: make(key) };
    return kept.value;
  };
}

interface Order {
  /** Of all signed headers, each with its value where that is the same in every request. */
  readonly headers: readonly (readonly [name: string, value: string | undefined])[];
  readonly names: string;
}

function orderOf(headers: Scope['headers'], added: readonly string[]): Order {
  const fixed = Object.entries(headers).map(([name, value]) => [name, canonical(value)] as const);
  const all = [...fixed, ...added.map((name) => [name, undefined] as const)].sort(([a], [b]) => (a < b ? -1 : 1));
  return { headers: all, names: all.map(([name]) => name).join(';') };
}

/** Answers the headers that make the request whole. */
export type Sign = (credentials: Credentials, signable: Signable) => Record<string, string>;

export function openSigner({ region, service, headers }: Scope): Sign {
  const timeOf = latest((second: number) => new Date(second * SECOND_MS).toISOString().replace(/[-:]|\.\d+/g, ''));
  const orderFor = latest((added: string) => orderOf(headers, added.split(';')));
  const keysOf = latest((secret: string) =>
    latest((day: string) => [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`)),
  );

  return ({ accessKeyId, secretAccessKey, sessionToken }, { body, at }) => {
    const time = timeOf(Math.floor(at / SECOND_MS));
    const day = time.slice(0, 8);
    const bodyHash = hash('sha256', body);
    const added: Record<string, string> = { 'x-amz-content-sha256': bodyHash, 'x-amz-date': time };
    if (sessionToken !== undefined) added['x-amz-security-token'] = canonical(sessionToken);
    const order = orderFor(Object.keys(added).join(';'));
    let lines = '';
    for (const [name, value] of order.headers) lines += `${name}:${value ?? added[name]}\n`;
    const request = hash('sha256', `POST\n/\n\n${lines}\n${order.names}\n${bodyHash}`);
    const scope = `${day}/${region}/${service}/aws4_request`;
    const signature = hmac(keysOf(secretAccessKey)(day), `${ALGORITHM}\n${time}\n${scope}\n${request}`).toString('hex');
    added.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${order.names}, Signature=${signature}`;
    return added;
  };
}

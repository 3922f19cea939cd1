import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm';
import { expect, it } from 'vitest';
import { requestHandler, type WireRequest } from './http.ts';
import { openSigner } from './signature.ts';

const canned: typeof fetch = async () => new Response('{}', { headers: { 'content-type': 'application/json' } });

/** A request as the SDK signs it. */
async function signedBySdk(credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }) {
  const requests: WireRequest[] = [];
  const handler = requestHandler(canned);
  const ssm = new SSMClient({
    region: 'eu-central-1',
    credentials,
    requestHandler: {
      ...handler,
      handle: (request: WireRequest) => handler.handle(request, { sent: (left) => requests.push(left) }),
    },
  });
  await ssm.send(new GetParametersByPathCommand({ Path: '/velda/pools/', Recursive: true, NextToken: 'ü' }));
  return requests[0] as WireRequest;
}

it.each([
  ['a key', {}],
  ['a key of a session', { sessionToken: 'of a session' }],
])('of %s is the one that the SDK makes', async (_what, session) => {
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-nobody', ...session };
  const { headers, body } = await signedBySdk(credentials);
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
  const made = ['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token'];
  const signed = Object.fromEntries(
    names.filter((name) => !made.includes(name)).map((name) => [name, headers[name] ?? '']),
  );
  const [date = '', time = ''] = (headers['x-amz-date'] ?? '').split('T');
  const at = Date.parse(`${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}`);

  const ours = openSigner({ region: 'eu-central-1', service: 'ssm', headers: signed })(credentials, {
    body: new TextDecoder().decode(body as Uint8Array),
    at,
  });

  expect(ours).toEqual(Object.fromEntries(Object.keys(ours).map((name) => [name, headers[name]])));
  expect(ours.authorization).toContain('Signature=');
});

it('follows the key, its session, the day and the second', () => {
  const scope = { region: 'eu-central-1', service: 'ssm', headers: { host: 'x' } };
  const sign = openSigner(scope);
  const keys = [{ secretAccessKey: 'a' }, { secretAccessKey: 'b' }, { secretAccessKey: 'b', sessionToken: 'of b' }];
  const asked = keys.flatMap((key) => [0, 999, 1_000, 86_400_000].map((at) => ({ key, at })));

  for (const { key, at } of asked) {
    const credentials = { accessKeyId: 'AKIATEST', ...key };
    const signable = { body: '', at };
    expect(sign(credentials, signable)).toEqual(openSigner(scope)(credentials, signable));
  }
});

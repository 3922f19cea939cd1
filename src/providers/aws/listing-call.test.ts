import { expect, it } from 'vitest';
import type { Source } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { ssmAt } from './client.ts';
import { ParametersConfig } from './parameters/config.ts';
import { openParameters } from './parameters/source.ts';
import { putParameter } from './parameters/testing.ts';
import { type AwsScene, openScene, REGION } from './testing.ts';

const PREFIX = '/velda/pools/';

interface Asked {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A source of three pages, and all that it sends. */
async function open(): Promise<{ scene: AwsScene; asked: Asked[]; read(): ReturnType<Source['documents']> }> {
  const scene = openScene({ behaviour: { largestPage: 1 } });
  for (const name of ['a', 'b', 'c']) putParameter(scene.fake, `${PREFIX}${name}`, name);
  const asked: Asked[] = [];
  const context = {
    ...scene.contextFor('cluster1'),
    fetch: ((url, init) => {
      asked.push({
        url: String(url),
        headers: new Headers(init?.headers),
        body: typeof init?.body === 'string' ? init.body : '',
      });
      return scene.fake.fetch(url, init);
    }) satisfies typeof fetch,
  };
  const source = await openParameters(ParametersConfig.parse({ region: REGION, configPrefix: PREFIX }), context);
  return { scene, asked, read: () => scene.during(source.documents(new Map(), going())) };
}

// The SDK's middleware numbers its requests.
const isByMiddleware = ({ headers }: Asked): boolean => headers.has('amz-sdk-invocation-id');

it('asks for each page once, with a signature for its service and region', async () => {
  const { asked, read } = await open();

  const documents = await read();

  expect(documents.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  expect(asked.map(isByMiddleware)).toEqual([false, false, false]);
  for (const { url, headers, body } of asked) {
    expect(url).toBe(`https://ssm.${REGION}.amazonaws.com/`);
    expect(headers.get('x-amz-target')).toBe('AmazonSSM.GetParametersByPath');
    expect(headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/us-west-2\/ssm\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target, Signature=[0-9a-f]{64}$/,
    );
    expect(JSON.parse(body)).toMatchObject({ Path: PREFIX, Recursive: true });
  }
});

it('does not ask twice where it was too much', async () => {
  const { scene, asked, read } = await open();
  scene.fake.mishaps.add({ action: 'GetParametersByPath', after: 1, times: 1, what: { kind: 'throttle' } });

  expect(await read()).toHaveLength(3);
  expect(asked.map(isByMiddleware)).toEqual([false, false, false, false]);
});

it('takes an answer that cannot be read for none', async () => {
  const { scene, asked, read } = await open();
  scene.fake.mishaps.add({ action: 'GetParametersByPath', after: 1, times: 1, what: { kind: 'garbage' } });

  expect(await read()).toHaveLength(3);
  expect(asked.map(isByMiddleware)).toEqual([false, false, false, false]);
});

it('says why AWS refused, in its words', async () => {
  const { scene, asked, read } = await open();
  scene.fake.principals.deny('ssm:GetParametersByPath');

  await expect(read()).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('is not authorized to perform: ssm:GetParametersByPath'),
  });
  expect(asked.map(isByMiddleware)).toEqual([false]);
});

it('signs by the clock of AWS once the SDK has learned of it', async () => {
  const scene = openScene();
  const dates: string[] = [];
  const aheadMs = 60 * 60_000;
  const skewed: typeof fetch = async (_url, init) => {
    dates.push(new Headers(init?.headers).get('x-amz-date') ?? '');
    const date = new Date(Date.now() + aheadMs).toUTCString();
    const body = JSON.stringify({ __type: 'RequestTimeTooSkewed', message: 'Signature not yet current.' });
    return new Response(body, { status: 400, headers: { date, 'content-type': 'application/x-amz-json-1.1' } });
  };
  const ssm = await ssmAt({ ...scene.contextFor('cluster1'), fetch: skewed }, { region: REGION });
  const ask = () => scene.during(ssm.ask('GetParametersByPath', { Path: PREFIX }, { signal: going() }));
  for (let n = 0; n < 3; n++) await expect(ask()).rejects.toMatchObject({ kind: 'unauthenticated' });

  const [before, , after] = dates.map((text) =>
    Date.parse(text.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5')),
  );
  expect(((after as number) - (before as number)) / aheadMs).toBeCloseTo(1, 1);
});

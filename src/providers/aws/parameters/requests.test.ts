import { expect, it } from 'vitest';
import type { Source } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { ssmAt } from '../client.ts';
import { type AwsScene, openScene, REGION } from '../testing.ts';
import { ParametersConfig } from './config.ts';
import { openParameters } from './source.ts';
import { putParameter } from './testing.ts';

const PREFIX = '/velda/pools/';

/** A source of three pages, and all requests that it sends. */
async function open(): Promise<{ scene: AwsScene; asked: Request[]; read(): ReturnType<Source['documents']> }> {
  const scene = openScene({ behaviour: { largestPage: 1 } });
  for (const name of ['a', 'b', 'c']) putParameter(scene.fake, `${PREFIX}${name}`, name);
  const asked: Request[] = [];
  const context = {
    ...scene.contextFor('cluster1'),
    fetch: ((url, init) => {
      asked.push(new Request(url, init));
      return scene.fake.fetch(url, init);
    }) satisfies typeof fetch,
  };
  const source = await openParameters(ParametersConfig.parse({ region: REGION, configPrefix: PREFIX }), context);
  return { scene, asked, read: () => scene.during(source.documents(new Map(), going())) };
}

// The SDK's middleware numbers its requests.
const isByMiddleware = ({ headers }: Request): boolean => headers.has('amz-sdk-invocation-id');

it('parameters are asked for by the SDK, each page once, with a signature for the service and region', async () => {
  const { asked, read } = await open();

  const documents = await read();

  expect(documents.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  expect(asked.map(isByMiddleware)).toEqual([true, true, true]);
  for (const request of asked) {
    const { url, headers } = request;
    expect(url).toBe(`https://ssm.${REGION}.amazonaws.com/`);
    expect(headers.get('x-amz-target')).toBe('AmazonSSM.GetParametersByPath');
    expect(headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/us-west-2\/ssm\/aws4_request, SignedHeaders=\S*content-type;host;x-amz-content-sha256;x-amz-date;x-amz-target\S*, Signature=[0-9a-f]{64}$/,
    );
    expect(await request.json()).toMatchObject({ Path: PREFIX, Recursive: true });
  }
});

it('a page that was throttled is asked for once more, by this server and not by the SDK as well', async () => {
  const { scene, asked, read } = await open();
  scene.fake.failureRules.add({ action: 'GetParametersByPath', after: 1, times: 1, what: { kind: 'throttle' } });

  expect(await read()).toHaveLength(3);
  expect(asked.map(isByMiddleware)).toEqual([true, true, true, true]);
});

it('a page that cannot be read is asked for once more', async () => {
  const { scene, asked, read } = await open();
  scene.fake.failureRules.add({ action: 'GetParametersByPath', after: 1, times: 1, what: { kind: 'garbage' } });

  expect(await read()).toHaveLength(3);
  expect(asked.map(isByMiddleware)).toEqual([true, true, true, true]);
});

it('a refused listing says why in the words of AWS, and is not repeated', async () => {
  const { scene, asked, read } = await open();
  scene.fake.principals.deny('ssm:GetParametersByPath');

  await expect(read()).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('is not authorized to perform: ssm:GetParametersByPath'),
  });
  expect(asked.map(isByMiddleware)).toEqual([true]);
});

it('requests are signed by the clock of AWS once an answer has shown that ours is wrong', async () => {
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

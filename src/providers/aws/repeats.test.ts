import { expect, it } from 'vitest';
import { exchangeBy, type WholeRequest } from '#core/exchange.ts';
import type { Source } from '#core/provider.ts';
import { ParametersConfig } from './parameters/config.ts';
import { openParameters } from './parameters/source.ts';
import { putParameter } from './parameters/testing.ts';
import { going, openScene, REGION, type Scene } from './testing.ts';

const PREFIX = '/velda/pools/';

interface Asked {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const textOf = (body: WholeRequest['body']): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body);

/** A source of three pages, and all that it sends. */
async function open(): Promise<{ scene: Scene; asked: Asked[]; read(): ReturnType<Source['documents']> }> {
  const scene = openScene({ behaviour: { largestPage: 1 } });
  for (const name of ['a', 'b', 'c']) putParameter(scene.fake, `${PREFIX}${name}`, name);
  const asked: Asked[] = [];
  const exchange = exchangeBy(scene.fake.fetch);
  const context = {
    ...scene.contextFor('cluster1'),
    exchange: ((request, signal) => {
      asked.push({ headers: request.headers, body: textOf(request.body) });
      return exchange(request, signal);
    }) satisfies typeof exchange,
  };
  const source = await openParameters(ParametersConfig.parse({ region: REGION, configPrefix: PREFIX }), context);
  return { scene, asked, read: () => scene.during(source.documents(new Map(), going())) };
}

// The SDK numbers its requests.
const isOfSdk = ({ headers }: Asked): boolean => 'amz-sdk-invocation-id' in headers;

it('differ from the request of the SDK only in what belongs to one request', async () => {
  const { asked, read } = await open();
  const own = /^(authorization|content-length|x-amz-(date|content-sha256)|amz-sdk-.*)$/;
  const common = ({ headers }: Asked) =>
    Object.entries(headers)
      .filter(([name]) => !own.test(name))
      .toSorted();
  const scope = ({ headers }: Asked): string | undefined => /Credential=\S+/.exec(headers.authorization ?? '')?.[0];

  const documents = await read();

  const [first, second] = asked as [Asked, Asked];
  expect(documents.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  expect(asked.map(isOfSdk)).toEqual([true, false, false]);
  expect(common(second)).toEqual(common(first));
  expect(scope(second)).toBe(scope(first)?.replace(/\d{8}/, /\/(\d{8})\//.exec(scope(second) ?? '')?.[1] ?? ''));
  expect(JSON.parse(second.body)).toEqual({ ...JSON.parse(first.body), NextToken: expect.any(String) });
});

it('stay the same from one listing to the next', async () => {
  const { asked, read } = await open();
  await read();

  await read();

  expect(asked.map(isOfSdk)).toEqual([true, false, false, false, false, false]);
});

it.each([
  ['refused', { kind: 'throttle' }],
  ['garbled', { kind: 'garbage' }],
] as const)(
  'are made by the SDK again after an answer that was %s, which is not asked for twice',
  async (_how, what) => {
    const { scene, asked, read } = await open();
    scene.fake.mishaps.add({ action: 'GetParametersByPath', after: 1, times: 1, what });

    const documents = await read();

    expect(documents).toHaveLength(3);
    expect(asked.map(isOfSdk)).toEqual([true, false, true, false]);
  },
);

it('say what AWS says when it refuses', async () => {
  const { scene, read } = await open();
  await read();
  scene.fake.principals.deny('ssm:GetParametersByPath');

  await expect(read()).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('is not authorized to perform: ssm:GetParametersByPath'),
  });
});

import { describe, expect, it } from 'vitest';
import type { Document, Source } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { type AwsScene, openScene, REGION } from '../testing.ts';
import { ParametersConfig, placeOf } from './config.ts';
import { openParameters } from './source.ts';
import { dropParameter, putParameter } from './testing.ts';

const PREFIX = '/velda/pools';

function open(scene: AwsScene, config: object = {}): Promise<Source> {
  const parsed = ParametersConfig.parse({ region: REGION, configPrefix: PREFIX, ...config });
  return openParameters(parsed, scene.contextFor('cluster1'));
}

const read = (scene: AwsScene, source: Source, held = new Map<string, string>()): Promise<readonly Document[]> =>
  scene.during(source.documents(held, going()));

describe('parameters', () => {
  it('are asked for with one slash at the end, however the prefix is written', async () => {
    const scene = openScene();
    putParameter(scene.fake, `${PREFIX}/a`, 'a');
    putParameter(scene.fake, '/velda/pools-of-others', 'not ours');

    for (const configPrefix of [PREFIX, `${PREFIX}/`, `${PREFIX}//`]) {
      const documents = await read(scene, await open(scene, { configPrefix }));
      expect(documents.map(({ key }) => key)).toEqual([`${PREFIX}/a`]);
    }
    expect(new Set(scene.fake.calls.map(({ parameters }) => parameters.Path))).toEqual(new Set([`${PREFIX}/`]));
  });

  it('have one place, however the prefix is written', () => {
    const placeFor = (config: object): string => placeOf(ParametersConfig.parse(config));

    expect(placeFor({ region: REGION, configPrefix: PREFIX })).toBe('us-west-2:/velda/pools/');
    expect(placeFor({ region: REGION, configPrefix: `${PREFIX}/` })).toBe('us-west-2:/velda/pools/');
    expect(placeFor({ configPrefix: `${PREFIX}/` })).toBe('/velda/pools/');
    expect(ParametersConfig.safeParse({ configPrefix: 'velda/pools' }).success).toBe(false);
  });

  it('bear the store’s own version', async () => {
    const scene = openScene();
    const source = await open(scene);
    for (const text of ['one', 'two', 'three']) putParameter(scene.fake, `${PREFIX}/a`, text);

    expect(await read(scene, source)).toEqual([{ key: `${PREFIX}/a`, version: '3', text: 'three' }]);
    expect(await read(scene, source, new Map([[`${PREFIX}/a`, '3']]))).toEqual([{ key: `${PREFIX}/a`, version: '3' }]);
  });

  it('are found in folders, and secrets are opened', async () => {
    const scene = openScene();
    putParameter(scene.fake, `${PREFIX}/ml-team/training`, 'secret text', 'SecureString');

    expect(await read(scene, await open(scene))).toEqual([
      { key: `${PREFIX}/ml-team/training`, version: '1', text: 'secret text' },
    ]);
  });

  it('come without a text where a secret that is held can no longer be opened', async () => {
    const scene = openScene();
    const source = await open(scene);
    const key = `${PREFIX}/a`;
    putParameter(scene.fake, key, 'secret text', 'SecureString');
    scene.fake.principals.deny('kms:Decrypt');

    const [held] = await read(scene, source, new Map([[key, '1']]));
    putParameter(scene.fake, key, 'another', 'SecureString');
    const [changed] = await read(scene, source, new Map([[key, '1']]));

    expect(held).toEqual({ key, version: '1' });
    expect(changed?.text).toBeUndefined();
    expect(changed?.fault?.kind).toBe('denied');
    expect(changed?.fault?.remedy).toContain('kms:Decrypt');
  });

  it('are opened again in pages when every secret can be', async () => {
    const scene = openScene();
    const source = await open(scene);
    putParameter(scene.fake, `${PREFIX}/a`, 'secret text', 'SecureString');
    scene.fake.principals.deny('kms:Decrypt');
    const [sealed] = await read(scene, source);
    scene.fake.principals.allow('kms:Decrypt');
    const [opened] = await read(scene, source);
    const callsBefore = scene.fake.calls.length;
    await read(scene, source);

    expect(sealed?.fault?.kind).toBe('denied');
    expect(opened?.text).toBe('secret text');
    expect(scene.fake.calls.slice(callsBefore).map(({ action }) => action)).toEqual(['GetParametersByPath']);
  });

  it.each(['{}', '{"message":"Please log in"}'])('are not gone where somebody else answered %s', async (text) => {
    const scene = openScene();
    const context = { ...scene.contextFor('cluster1'), fetch: async () => new Response(text) };
    const source = await openParameters(ParametersConfig.parse({ region: REGION, configPrefix: PREFIX }), context);

    await expect(read(scene, source)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('say which right is missing', async () => {
    const scene = openScene();
    scene.fake.principals.deny('ssm:GetParametersByPath');

    await expect(read(scene, await open(scene))).rejects.toMatchObject({
      kind: 'denied',
      remedy: expect.stringContaining('ssm:GetParametersByPath'),
    });
  });

  it('survive a page that is refused for a moment', async () => {
    const scene = openScene({ behaviour: { largestPage: 1 } });
    for (const name of ['a', 'b', 'c']) putParameter(scene.fake, `${PREFIX}/${name}`, name);
    scene.fake.failureRules.add({ action: 'GetParametersByPath', after: 1, times: 2, what: { kind: 'throttle' } });

    expect(await read(scene, await open(scene))).toHaveLength(3);
  });

  it('that are removed are not listed', async () => {
    const scene = openScene();
    putParameter(scene.fake, `${PREFIX}/a`, 'a');
    dropParameter(scene.fake, `${PREFIX}/a`);

    expect(await read(scene, await open(scene))).toEqual([]);
  });

  it('are read within the limit of the account', async () => {
    const scene = openScene({ behaviour: { largestPage: 1 } });
    for (let at = 0; at < 200; at++) putParameter(scene.fake, `${PREFIX}/${at}`, 'x');
    const startedMs = scene.clock.monotonic();
    await read(scene, await open(scene));

    expect(scene.clock.monotonic() - startedMs).toBeGreaterThanOrEqual(4_000);
    expect(scene.clock.monotonic() - startedMs).toBeLessThan(6_000);
  });
});

import { describe, expect, it } from 'vitest';
import type { Document, Source } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { openScene, type Scene } from '../testing.ts';

const LIST = 'appConfiguration.kvList';
const KEY_VAULT = 'application/vnd.microsoft.appconfig.keyvaultref+json;charset=utf-8';

const read = (scene: Scene, source: Source, held: ReadonlyMap<string, string> = new Map()) =>
  scene.during(source.documents(held, going()));
const versionsOf = (documents: readonly Document[]) => new Map(documents.map(({ key, version }) => [key, version]));
const keysOf = (documents: readonly Document[]) => documents.map(({ key }) => key);
const outcomes = ({ fake }: Scene, from = 0) =>
  fake.calls.slice(from).flatMap(({ action, outcome }) => (action === LIST ? [outcome] : []));

/** What the store answered to listings, in bytes. */
function weighed(scene: Scene): { bytes: number; unchanged: number } {
  const weight = { bytes: 0, unchanged: 0 };
  const { fetch } = scene.context;
  Object.assign(scene.context, {
    async fetch(...given: Parameters<typeof fetch>) {
      const answer = await fetch(...given);
      weight.bytes += (await answer.clone().arrayBuffer()).byteLength;
      if (answer.status === 304) weight.unchanged += 1;
      return answer;
    },
  });
  return weight;
}

describe('key-values', () => {
  it('are found at any depth, whatever stands in their keys', async () => {
    const scene = openScene();
    const names = ['a.json', 'aws-p3.2xlarge', 'team/d #1?é&+,*\\.json', 'team/x/e'];
    for (const name of names) scene.store.put(`pools/${name}`, `of ${name}`);
    const documents = await read(scene, await scene.openSource());

    expect(documents.map(({ key, text }) => [key, text])).toEqual(names.map((name) => [`pools/${name}`, `of ${name}`]));
  });

  it('are those below the prefix alone, however it is written and whatever signs are in it', async () => {
    const scene = openScene();
    for (const key of ['pools/a', 'pools-of-others/b', 'c', 'p*,\\/d', 'pxyz/e']) scene.store.put(key, key);

    for (const configPrefix of ['pools', 'pools/', 'pools//'])
      expect(keysOf(await read(scene, await scene.openSource({ configPrefix })))).toEqual(['pools/a']);
    expect(keysOf(await read(scene, await scene.openSource({ configPrefix: 'p*,\\' })))).toEqual(['p*,\\/d']);
    expect(await read(scene, await scene.openSource({ configPrefix: '' }))).toHaveLength(5);
  });

  it('are those without a label, or with the one that is named', async () => {
    const scene = openScene();
    scene.store.put('pools/a', 'plain');
    scene.store.put('pools/a', 'of production', { label: 'prod' });
    scene.store.put('pools/b', 'of test', { label: 'prod,test' });
    const textsOf = async (config: object) =>
      (await read(scene, await scene.openSource(config))).map(({ text }) => text);

    expect(await textsOf({})).toEqual(['plain']);
    expect(await textsOf({ label: 'prod' })).toEqual(['of production']);
    expect(await textsOf({ label: 'prod,test' })).toEqual(['of test']);
  });

  it('are no documents where they are empty, stand for folders or belong to the service', async () => {
    const scene = openScene();
    for (const key of ['pools/', 'pools/team/', '.appconfig.featureflag/beta', 'pools/a']) scene.store.put(key, 'x');
    scene.store.put('pools/empty', '');

    expect(keysOf(await read(scene, await scene.openSource({ configPrefix: '' })))).toEqual(['pools/a']);
  });

  it('that refer to Key Vault are refused alone', async () => {
    const scene = openScene();
    scene.store.put('pools/a', 'a');
    scene.store.put('pools/b', '{"uri": "https://vault"}', { contentType: KEY_VAULT });

    expect(await read(scene, await scene.openSource())).toMatchObject([
      { key: 'pools/a', text: 'a' },
      { key: 'pools/b', fault: { kind: 'unsupported', remedy: expect.stringContaining('Store the document itself') } },
    ]);
  });
});

describe('a listing of what has not changed', () => {
  it('carries nothing but an empty answer a page, and then only the page that did change', async () => {
    const scene = openScene();
    const weight = weighed(scene);
    const source = await scene.openSource();
    for (let at = 100; at < 350; at++) scene.store.put(`pools/${at}`, 'x'.repeat(1_000));
    scene.fake.world.largestPage = 100;
    const held = versionsOf(await read(scene, source));
    const first = { ...weight };
    const again = await read(scene, source, held);
    const second = { bytes: weight.bytes - first.bytes, unchanged: weight.unchanged };
    scene.store.put('pools/207', 'changed');
    const third = await read(scene, source, held);

    expect(first.bytes).toBeGreaterThan(250_000);
    expect(second).toEqual({ bytes: 0, unchanged: 3 });
    expect(again).toHaveLength(250);
    expect(weight.unchanged).toBe(5);
    expect(third).toHaveLength(250);
    expect(third.filter(({ text }) => text !== undefined)).toMatchObject([{ key: 'pools/207', text: 'changed' }]);
  });

  it('is read whole by a source that was opened anew, and sends no text that is held', async () => {
    const scene = openScene();
    for (const name of ['a', 'b']) scene.store.put(`pools/${name}`, name);
    const held = versionsOf(await read(scene, await scene.openSource()));

    expect(await read(scene, await scene.openSource(), held)).toEqual(
      [...held].map(([key, version]) => ({ key, version })),
    );
  });
});

describe('trouble', () => {
  it('of a moment is waited out: throttled, a lost reply, half a reply, the page of a gateway', async () => {
    const scene = openScene();
    scene.fake.world.largestPage = 1;
    for (const name of ['a', 'b', 'c', 'd', 'e']) scene.store.put(`pools/${name}`, name);
    const callFailures = ['throttle', 'lost reply', 'truncated reply', 'garbage'] as const;
    for (const [after, kind] of callFailures.entries())
      scene.fake.failureRules.add({ action: LIST, after, what: { kind } });

    expect((await read(scene, await scene.openSource())).map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(outcomes(scene).filter((outcome) => outcome !== 'ok')).toHaveLength(4);
  });

  it('with a right names the role and how to grant it', async () => {
    const scene = openScene();
    scene.fake.world.denied.add('Microsoft.AppConfiguration/configurationStores/keyValues/read');

    await expect(read(scene, await scene.openSource())).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('Forbidden'),
      remedy: expect.stringContaining('--role "App Configuration Data Reader"'),
    });
  });

  it.each(['{}', '{"message":"Please log in"}', '[]'])(
    'is not an empty store: somebody else answered %s',
    async (text) => {
      const scene = openScene();
      Object.assign(scene.context, { fetch: async () => new Response(text) });

      await expect(read(scene, await scene.openSource({ endpoint: 'http://portal.test' }))).rejects.toMatchObject({
        kind: 'unavailable',
      });
    },
  );
});

describe('the store', () => {
  it('is asked with a token for App Configuration, by a client secret or the identity of the machine', async () => {
    const scene = openScene();
    delete scene.variables.AZURE_CLIENT_SECRET;
    scene.fake.world.machineIdentities.push('app1');
    scene.store.put('pools/a', 'a');

    expect(await read(scene, await scene.openSource())).toHaveLength(1);
    expect([...scene.fake.world.granted.values()].map(({ resource }) => resource)).toEqual([
      'https://appconfig.azure.com',
    ]);
  });

  it('gets a new token once, when the old one was revoked', async () => {
    const scene = openScene();
    const source = await scene.openSource();
    scene.store.put('pools/a', 'a');
    await read(scene, source);
    scene.fake.world.granted.clear();

    expect(await read(scene, source)).toHaveLength(1);
    expect(scene.fake.countOf('entra.token')).toBe(2);
  });

  it('is shown what it said of its state, so that no replica answers from an older one', async () => {
    const scene = openScene();
    const shown: (string | null)[] = [];
    const { fetch } = scene.context;
    Object.assign(scene.context, {
      fetch(...[url, init]: Parameters<typeof fetch>) {
        if (String(url).includes('/kv')) shown.push(new Headers(init?.headers).get('sync-token'));
        return fetch(url, init);
      },
    });
    const source = await scene.openSource();
    scene.store.put('pools/a', 'a');
    for (const _again of [1, 2]) await read(scene, source);

    expect(shown).toEqual([null, `zAJw6V16=${Buffer.from('0:1').toString('base64')}`]);
  });

  it('that is an emulator is shown no credentials', async () => {
    const scene = openScene();
    const asked: unknown[] = [];
    Object.assign(scene.context, {
      fetch: async (_url: string, { headers }: RequestInit) => {
        asked.push(headers);
        return Response.json({ items: [] });
      },
    });

    expect(await read(scene, await scene.openSource({ endpoint: 'http://127.0.0.1:8483' }))).toEqual([]);
    expect(asked).toEqual([{ accept: 'application/json' }]);
  });
});

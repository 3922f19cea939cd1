import { describe, expect, it } from 'vitest';
import type { Document, Source } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { ACCOUNT, openScene, type Scene, SERVICE_ACCOUNT } from '../testing.ts';

function setUp(): Scene {
  const scene = openScene();
  scene.writeCredentials(SERVICE_ACCOUNT);
  return scene;
}

const read = (scene: Scene, source: Source, held = new Map<string, string>()): Promise<readonly Document[]> =>
  scene.during(source.documents(held, going()));

const keysOf = (documents: readonly Document[]): string[] => documents.map(({ key }) => key);
const versionsOf = (documents: readonly Document[]): Map<string, string> =>
  new Map(documents.map(({ key, version }) => [key, version]));

/** Does something right before the first object is read. */
function beforeReading(scene: Scene, change: () => void): void {
  const { fetch } = scene.context;
  let isDone = false;
  Object.assign(scene.context, {
    fetch: (...given: Parameters<typeof fetch>) => {
      if (!isDone && String(given[0]).includes('alt=media')) {
        isDone = true;
        change();
      }
      return fetch(...given);
    },
  });
}

/** Calls about that object. */
function isOf(part: string): (call: { readonly path: string }) => boolean {
  return ({ path }) => path.endsWith(`/o/${part}`);
}

const LIST = 'storage.objects.list';
const GET = 'storage.objects.get';

describe('objects', () => {
  it('are found at any depth, with the suffix .json or .yaml or none, and whatever stands in their names', async () => {
    const scene = setUp();
    const names = ['a.json', 'aws-p3.2xlarge', 'b.yaml', 'c', 'team/d #1?é%2F.json', 'team/x/e.json'];
    for (const name of names) scene.bucket.put(`pools/${name}`, `of ${name}`);
    const documents = await read(scene, await scene.openGcs());

    expect(documents.map(({ key, text }) => [key, text])).toEqual(names.map((name) => [`pools/${name}`, `of ${name}`]));
  });

  it('are those below the prefix alone, however it is written', async () => {
    const scene = setUp();
    scene.bucket.put('pools/a', 'a');
    scene.bucket.put('pools-of-others/b', 'not ours');
    scene.bucket.put('c', 'not ours');

    for (const configPrefix of ['pools', 'pools/', 'pools//'])
      expect(keysOf(await read(scene, await scene.openGcs({ configPrefix })))).toEqual(['pools/a']);
    expect(await read(scene, await scene.openGcs({ configPrefix: '' }))).toHaveLength(3);
  });

  it('are no documents where they are empty or stand for folders', async () => {
    const scene = setUp();
    scene.bucket.put('pools/', '');
    scene.bucket.put('pools/team/', 'some tools write into these');
    scene.bucket.put('pools/empty.json', '');
    scene.bucket.put('pools/a.json', 'a');

    expect(keysOf(await read(scene, await scene.openGcs()))).toEqual(['pools/a.json']);
  });

  it('bear their generation as version, also where two are written in one moment', async () => {
    const scene = setUp();
    const source = await scene.openGcs();
    const { generation } = scene.bucket.put('pools/a', 'one');
    const [first] = await read(scene, source);
    const later = scene.bucket.put('pools/a', 'two');
    const [second] = await read(scene, source);

    expect(first).toEqual({ key: 'pools/a', version: generation, text: 'one' });
    expect(second).toEqual({ key: 'pools/a', version: later.generation, text: 'two' });
    expect(scene.bucket.put('pools/a', 'three').generation).not.toBe(later.generation);
  });

  it('are read only where they have changed', async () => {
    const scene = setUp();
    const source = await scene.openGcs();
    for (let at = 0; at < 50; at++) scene.bucket.put(`pools/${at}`, `text ${at}`);
    const held = versionsOf(await read(scene, source));
    const readBefore = scene.fake.countOf(GET);
    scene.bucket.put('pools/7', 'changed');
    const documents = await read(scene, source, held);

    expect(readBefore).toBe(50);
    expect(scene.fake.countOf(GET) - readBefore).toBe(1);
    expect(documents.filter(({ text }) => text !== undefined)).toMatchObject([{ key: 'pools/7', text: 'changed' }]);
    expect(documents).toHaveLength(50);
  });

  it('need no right but to list and to get objects, and one token for all of it', async () => {
    const scene = setUp();
    scene.fake.world.denied.add('storage.buckets.get');
    for (const name of ['a', 'b', 'c']) scene.bucket.put(`pools/${name}`, name);
    await read(scene, await scene.openGcs());

    expect(new Set(scene.fake.calls.map(({ action }) => action))).toEqual(new Set(['oauth2.token', LIST, GET]));
    expect(scene.fake.asked()).toBe(1);
  });

  it('that are larger than any document are refused alone, and not read', async () => {
    const scene = setUp();
    scene.bucket.put('pools/a', 'a');
    scene.bucket.put('pools/log', 'x'.repeat(1024 * 1024 + 1));
    const documents = await read(scene, await scene.openGcs());

    expect(documents).toMatchObject([
      { key: 'pools/a', text: 'a' },
      { key: 'pools/log', fault: { kind: 'invalid' } },
    ]);
    expect(scene.fake.countOf(GET)).toBe(1);
  });

  it('that are so large only when they are unpacked are refused alone', async () => {
    const scene = setUp();
    for (const name of ['a', 'bomb']) scene.bucket.put(`pools/${name}`, 'é');
    const { fetch } = scene.context;
    Object.assign(scene.context, {
      fetch: async (...given: Parameters<typeof fetch>) =>
        /bomb\?alt=media/.test(String(given[0])) ? new Response('x'.repeat(1024 * 1024 + 1)) : fetch(...given),
    });

    expect(await read(scene, await scene.openGcs())).toMatchObject([
      { key: 'pools/a', text: 'é' },
      { key: 'pools/bomb', fault: { kind: 'invalid' } },
    ]);
  });

  it('that nobody may read have a fault of their own, and are read as soon as that changes', async () => {
    const scene = setUp();
    const source = await scene.openGcs();
    for (const name of ['a', 'b']) scene.bucket.put(`pools/${name}`, name);
    scene.fake.world.storage.sealed.add('pools/a');
    const sealed = await read(scene, source);
    scene.fake.world.storage.sealed.clear();
    const opened = await read(scene, source, versionsOf(sealed));

    expect(sealed).toMatchObject([{ fault: { kind: 'denied' } }, { text: 'b' }]);
    expect(sealed[0]?.fault?.remedy).toContain('roles/storage.objectViewer');
    expect(opened[0]).toMatchObject({ key: 'pools/a', text: 'a' });
    expect(opened[1]?.text).toBeUndefined();
  });
});

describe('objects that change while they are read', () => {
  it('are read as they are now, with the version of now', async () => {
    const scene = setUp();
    scene.bucket.put('pools/a', 'old');
    beforeReading(scene, () => scene.bucket.put('pools/a', 'new'));

    expect(await read(scene, await scene.openGcs())).toEqual([
      { key: 'pools/a', version: scene.bucket.get('pools/a')?.generation, text: 'new' },
    ]);
  });

  it('are left out where they are gone, and the others are not', async () => {
    const scene = setUp();
    for (const name of ['a', 'b']) scene.bucket.put(`pools/${name}`, name);
    beforeReading(scene, () => scene.bucket.remove('pools/a'));

    expect(keysOf(await read(scene, await scene.openGcs()))).toEqual(['pools/b']);
  });
});

describe('trouble', () => {
  it('of a moment is waited out: throttled, a lost reply, half a reply, a slow one, the page of a gateway', async () => {
    const scene = setUp();
    scene.fake.world.storage.largestPage = 1;
    for (const name of ['a', 'b', 'c']) scene.bucket.put(`pools/${name}`, name);
    scene.fake.failureRules.add({ action: LIST, after: 1, times: 2, what: { kind: 'throttle' } });
    scene.fake.failureRules.add({ action: LIST, after: 2, what: { kind: 'lost reply' } });
    scene.fake.failureRules.add({ action: GET, what: { kind: 'truncated reply' } });
    scene.fake.failureRules.add({ action: GET, after: 1, what: { kind: 'slow', ms: 5_000 } });
    scene.fake.failureRules.add({ action: GET, after: 2, what: { kind: 'garbage' } });

    expect((await read(scene, await scene.openGcs())).map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  });

  it('with one object throws rather than listing the others, and leaves no request behind', async () => {
    const scene = setUp();
    for (let at = 0; at < 40; at++) scene.bucket.put(`pools/${at}`, 'x');
    scene.fake.failureRules.add({ action: GET, times: 1_000, what: { kind: 'lost request' }, when: isOf('pools%2F1') });
    scene.fake.failureRules.add({ action: GET, times: 1_000, what: { kind: 'hang' } });

    await expect(read(scene, await scene.openGcs())).rejects.toMatchObject({ kind: 'unavailable' });
    await scene.clock.advance(0);
    expect(scene.running()).toBe(0);
  });

  it('with a right names the role and how to grant it', async () => {
    const scene = setUp();
    scene.fake.world.denied.add(LIST);

    await expect(read(scene, await scene.openGcs())).rejects.toMatchObject({
      kind: 'denied',
      message: expect.stringContaining(LIST),
      remedy: expect.stringContaining(
        'gs://velda-pool-configs --member=serviceAccount:ACCOUNT --role=roles/storage.objectViewer',
      ),
    });
  });

  it('with the bucket names it', async () => {
    const scene = setUp();
    await expect(read(scene, await scene.openGcs({ bucket: 'velda-pool-config' }))).rejects.toMatchObject({
      kind: 'missing',
      message: 'There is no bucket velda-pool-config at storage.googleapis.com.',
      remedy: expect.stringContaining('gcloud storage ls'),
    });
  });

  it.each(['{}', '{"message":"Please log in"}', '{"kind":"storage#buckets"}'])(
    'is not an empty bucket: somebody else answered %s',
    async (text) => {
      const scene = setUp();
      scene.variables.STORAGE_EMULATOR_HOST = 'http://portal.test';
      Object.assign(scene.context, { fetch: async () => new Response(text) });

      await expect(read(scene, await scene.openGcs())).rejects.toMatchObject({ kind: 'unavailable' });
    },
  );
});

describe('credentials', () => {
  it('come from the metadata server where there is no file', async () => {
    const scene = openScene();
    scene.fake.world.machineAccount = ACCOUNT;
    scene.bucket.put('pools/a', 'a');

    expect(await read(scene, await scene.openGcs())).toHaveLength(1);
    expect(scene.fake.countOf('metadata.token')).toBe(1);
  });

  it('that were revoked are replaced once, however many reads are on their way', async () => {
    const scene = setUp();
    for (let at = 0; at < 40; at++) scene.bucket.put(`pools/${at}`, 'x');
    beforeReading(scene, () => scene.fake.world.granted.revokeAll());

    expect(await read(scene, await scene.openGcs())).toHaveLength(40);
    expect(scene.fake.asked()).toBe(2);
  });

  it.each(['http://127.0.0.1:9000', '127.0.0.1:9000'])('are shown to no emulator at %s', async (emulator) => {
    const scene = setUp();
    scene.variables.STORAGE_EMULATOR_HOST = emulator;
    const asked: [string, unknown][] = [];
    Object.assign(scene.context, {
      fetch: async (url: string, { headers }: RequestInit) => {
        asked.push([new URL(url).origin, headers]);
        return Response.json({ kind: 'storage#objects' });
      },
    });

    expect(await read(scene, await scene.openGcs())).toEqual([]);
    expect(asked).toEqual([['http://127.0.0.1:9000', { accept: 'application/json' }]]);
  });
});

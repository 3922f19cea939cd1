import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import type { JsonOperation, Kube } from './client.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import type { KubeObject } from './object.ts';
import { PODS } from './resource.ts';
import { aPod } from './testing.ts';

const OURS = 'muster.io/drain';

function patched(list: readonly string[], { op, path, value }: JsonOperation): readonly string[] {
  if (op === 'remove') return list.toSpliced(Number(path.split('/').at(-1)), 1);
  if (op !== 'add') return list;
  return path.endsWith('-') ? [...list, String(value)] : (value as string[]);
}

/** A cluster with one object; `before` runs ahead of each patch, as another writer would. */
function setUp(finalizers: readonly string[] | undefined, before: ((change: typeof edit) => void)[] = []) {
  let object: KubeObject | undefined = aPod('p', 1, { finalizers });
  let version = 1;
  let patches = 0;
  function edit(metadata: Record<string, unknown> | undefined): void {
    version += 1;
    object = metadata && object && { metadata: { ...object.metadata, ...metadata, resourceVersion: String(version) } };
  }
  function fieldAt(path: string): unknown {
    return path
      .split('/')
      .slice(1)
      .reduce((value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key], object);
  }
  function refuse(operations: readonly JsonOperation[]): void {
    const status = { code: 404, reason: 'NotFound', causes: [], details: { name: 'p' } };
    if (!object) throw new Fault('missing', 'Gone.', { cause: status });
    if (operations.some(({ op, path, value }) => op === 'test' && fieldAt(path) !== value))
      throw new Fault('invalid', 'Test failed.');
  }
  const kube: Pick<Kube, 'get' | 'patch'> = {
    get: async () => object,
    async patch(_resource, _at, patch) {
      patches += 1;
      before.shift()?.(edit);
      const operations = 'json' in patch ? patch.json : [];
      refuse(operations);
      edit({ finalizers: operations.reduce(patched, object?.metadata.finalizers ?? []) });
      return object as KubeObject;
    },
  };
  return { kube, read: object, list: () => object?.metadata.finalizers, patches: () => patches };
}

it.each([[undefined], [[]], [['other/one']]])('is added beside those of others (%j), once', async (others) => {
  const { kube, read, list, patches } = setUp(others);
  const added = await addFinalizer(kube, PODS, read, { name: OURS }, going());
  await addFinalizer(kube, PODS, added as KubeObject, { name: OURS }, going());

  expect(list()).toEqual([...(others ?? []), OURS]);
  expect(patches()).toBe(1);
});

it('does not replace the list that another writer made meanwhile', async () => {
  const { kube, read, list } = setUp(undefined, [(edit) => edit({ finalizers: ['other/one'] })]);
  await addFinalizer(kube, PODS, read, { name: OURS }, going());

  expect(list()).toEqual(['other/one', OURS]);
});

it('is not added twice where another server was faster', async () => {
  const { kube, read, list } = setUp(['other/one'], [(edit) => edit({ finalizers: ['other/one', OURS] })]);
  await addFinalizer(kube, PODS, read, { name: OURS }, going());

  expect(list()).toEqual(['other/one', OURS]);
});

it('is not added to an object that is being deleted', async () => {
  const { kube, read, patches } = setUp([]);
  await addFinalizer(kube, PODS, { metadata: { ...read.metadata, deletionTimestamp: 'now' } }, { name: OURS }, going());

  expect(patches()).toBe(0);
});

it('is removed alone, also where the list moves meanwhile', async () => {
  const { kube, read, list } = setUp(
    ['other/one', OURS, 'other/two'],
    [(edit) => edit({ finalizers: [OURS, 'other/two'] })],
  );
  await removeFinalizer(kube, PODS, read, OURS, going());

  expect(list()).toEqual(['other/two']);
});

it('is removed wholly where it stands twice', async () => {
  const { kube, read, list } = setUp([OURS, OURS]);
  await removeFinalizer(kube, PODS, read, OURS, going());

  expect(list()).toEqual([]);
});

it('of an object that is gone, or was made anew, is no concern', async () => {
  const gone = setUp([OURS], [(edit) => edit(undefined)]);
  await removeFinalizer(gone.kube, PODS, gone.read, OURS, going());
  const anew = setUp([OURS], [(edit) => edit({ uid: 'another' })]);
  await removeFinalizer(anew.kube, PODS, anew.read, OURS, going());

  expect(anew.list()).toEqual([OURS]);
});

it('that cannot be removed for good is a fault', async () => {
  const { kube, read } = setUp([OURS]);
  const patch: Kube['patch'] = async () => {
    throw new Fault('denied', 'No.');
  };

  await expect(removeFinalizer({ ...kube, patch }, PODS, read, OURS, going())).rejects.toMatchObject({
    kind: 'denied',
  });
});

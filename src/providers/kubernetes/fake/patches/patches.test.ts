import { describe, expect, test } from 'vitest';
import { BUILTIN } from '../api/builtin.ts';
import type { Resource } from '../api/resource.ts';
import { aConfigMap, CONFIG_MAPS, openScene } from '../testing.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { strategicPatch } from './strategic-patch.ts';

test('a merge patch sets, removes and replaces lists whole', () => {
  const made = mergePatch({ a: 1, b: { c: 2, d: 3 }, e: [1, 2] }, { a: null, b: { c: 4 }, e: [3] });

  expect(made).toEqual({ b: { c: 4, d: 3 }, e: [3] });
});

describe('a JSON patch', () => {
  const document = { spec: { items: [1, 2], 'a/b': 'x' } };

  test.each([
    ['add', { op: 'add', path: '/spec/items/-', value: 3 }, { spec: { items: [1, 2, 3], 'a/b': 'x' } }],
    ['replace', { op: 'replace', path: '/spec/a~1b', value: 'y' }, { spec: { items: [1, 2], 'a/b': 'y' } }],
    ['remove', { op: 'remove', path: '/spec/items/0' }, { spec: { items: [2], 'a/b': 'x' } }],
    ['move', { op: 'move', from: '/spec/a~1b', path: '/spec/c' }, { spec: { items: [1, 2], c: 'x' } }],
    ['test', { op: 'test', path: '/spec/a~1b', value: 'x' }, document],
  ])('can %s', (_op, operation, expected) => {
    expect(jsonPatch(document, [operation])).toEqual(expected);
  });

  test('whose test fails changes nothing', () => {
    const patch = [
      { op: 'test', path: '/spec/items', value: [] },
      { op: 'remove', path: '/spec' },
    ];

    expect(() => jsonPatch(document, patch)).toThrow(expect.objectContaining({ status: 422 }));
  });
});

describe('a strategic merge patch', () => {
  const pods = BUILTIN.find(({ plural }) => plural === 'pods') as Resource;
  const containers = [
    { name: 'a', image: '1', env: [{ name: 'X', value: 'x' }] },
    { name: 'b', image: '1' },
  ];

  test('merges items by their key, deletes and orders them as kubectl says', () => {
    const patch = {
      spec: {
        '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
        containers: [
          { name: 'a', env: [{ name: 'Y', value: 'y' }] },
          { $patch: 'delete', name: 'b' },
          { name: 'c', image: '3' },
        ],
      },
    };

    expect(strategicPatch({ spec: { containers } }, patch, pods)).toEqual({
      spec: {
        containers: [
          { name: 'c', image: '3' },
          {
            name: 'a',
            image: '1',
            env: [
              { name: 'X', value: 'x' },
              { name: 'Y', value: 'y' },
            ],
          },
        ],
      },
    });
  });

  test('retains only the keys that it names', () => {
    const volumes = [{ name: 'v', emptyDir: {} }];
    const patch = { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] } };

    expect(strategicPatch({ spec: { volumes } }, patch, pods)).toEqual({
      spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
    });
  });

  test('removes from sets', () => {
    const target = { metadata: { finalizers: ['a', 'b'] } };
    const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] } };

    expect(strategicPatch(target, patch, pods)).toEqual({ metadata: { finalizers: ['b', 'c'] } });
  });
});

describe('server-side apply', () => {
  const path = `${CONFIG_MAPS}/a`;

  test('creates what is not there, and owns what it set', async () => {
    const { apply } = openScene();

    const { status, body } = await apply(path, 'data:\n  x: "1"\n', 'muster');

    expect(status).toBe(201);
    expect(body.metadata.managedFields).toMatchObject([
      { manager: 'muster', operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:data': { 'f:x': {} } } },
    ]);
  });

  test('refuses to overwrite what another owns, unless forced', async () => {
    const { apply, get } = openScene();
    await apply(path, { data: { x: '1', y: '1' } }, 'first');

    const refused = await apply(path, { data: { x: '2' } }, 'second');
    const forced = await apply(path, { data: { x: '2' } }, 'second', '&force=true');

    expect(refused.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "first" using v1: .data.x',
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.x' }] },
    });
    expect(forced.body.data).toEqual({ x: '2', y: '1' });
    expect((await get(path)).body.metadata.managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['first', { 'f:data': { 'f:y': {} } }],
      ['second', { 'f:data': { 'f:x': {} } }],
    ]);
  });

  test('shares what two set alike, and removes what its owner no longer applies', async () => {
    const { apply } = openScene();
    await apply(path, { data: { x: '1', y: '1' } }, 'first');
    await apply(path, { data: { x: '1' } }, 'second');

    const { body } = await apply(path, { data: { z: '1' } }, 'first');

    expect(body.data).toEqual({ x: '1', z: '1' });
  });

  test('of the same makes no new revision', async () => {
    const { apply, clock } = openScene();
    const first = await apply(path, { data: { x: '1' } });
    await clock.advance(5_000);

    const second = await apply(path, { data: { x: '1' } });

    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  });

  test('notices what an update took over', async () => {
    const { apply, patch } = openScene();
    await apply(path, { data: { x: '1' } }, 'muster');
    const edited = await patch(`${path}?fieldManager=kubectl-edit`, { data: { x: '2' } });

    expect(edited.body.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kubectl-edit']);
    const { body } = await apply(path, { data: { x: '1' } }, 'muster');

    expect(body.message).toBe('Apply failed with 1 conflict: conflict with "kubectl-edit" using v1: .data.x');
  });

  test('needs a field manager', async () => {
    const { call } = openScene();

    const { body } = await call('PATCH', path, {}, { 'content-type': 'application/apply-patch+yaml' });

    expect(body).toMatchObject({ code: 422 });
    expect(body.message).toContain('fieldManager: Required value');
  });
});

test('a patch with a stale revision is a conflict, and one of an unknown kind is refused', async () => {
  const { post, patch } = openScene();
  await post(CONFIG_MAPS, aConfigMap('a'));

  expect((await patch(`${CONFIG_MAPS}/a`, { metadata: { resourceVersion: '1' } })).body).toMatchObject({ code: 409 });
  expect((await patch(`${CONFIG_MAPS}/a`, {}, 'unheard-of')).body).toMatchObject({ code: 415 });
});

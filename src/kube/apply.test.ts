import { expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { applyObject, mergePatch, writeStatus } from './apply.ts';
import { PODS } from './resource.ts';
import { aPod, json, openScripted } from './testing.ts';

function setUp() {
  const scripted = openScripted();
  scripted.script.answering = () => json(aPod('p', 2));
  return scripted;
}

it('an object is applied with force, under our name', async () => {
  const { kube, requests } = setUp();
  await applyObject(kube, PODS, { metadata: { name: 'p', namespace: 'ml' }, spec: { a: 1 } }, going());

  expect(requests[0]).toMatchObject({
    method: 'PATCH',
    path: '/api/v1/namespaces/ml/pods/p',
    query: { fieldManager: 'muster', force: 'true' },
    body: { apiVersion: 'v1', kind: 'Pod', spec: { a: 1 } },
  });
});

it('a status is written only where it differs, and only what differs', async () => {
  const { kube, requests } = setUp();
  const pod = { ...aPod('p', 7), status: { ready: 1, gone: true, deep: { a: 1, b: [1] } } };

  expect(
    await writeStatus(kube, PODS, pod, { ready: 1, gone: true, deep: { a: 1, b: [1] }, none: undefined }, going()),
  ).toBe(false);
  expect(requests).toEqual([]);
  expect(await writeStatus(kube, PODS, pod, { ready: 2, deep: { a: 1, b: [2] } }, going())).toBe(true);
  expect(requests[0]).toMatchObject({
    path: '/api/v1/namespaces/ml/pods/p/status',
    body: { metadata: { resourceVersion: '7' }, status: { ready: 2, gone: null, deep: { b: [2] } } },
  });
});

it('a first status is written whole', async () => {
  const { kube, requests } = setUp();
  await writeStatus(kube, PODS, aPod('p', 7), { ready: 0 }, going());

  expect(requests[0]?.body).toEqual({ metadata: { resourceVersion: '7' }, status: { ready: 0 } });
});

it('a merge patch from a value to itself is nothing', () => {
  expect(mergePatch({ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 2 }] } })).toBeUndefined();
});

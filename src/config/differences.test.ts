import { expect, test } from 'vitest';
import { differences } from './differences.ts';

const open = (document: unknown) => ({ whole: document, shown: document });

test('equal documents do not differ, whatever the order of their keys', () => {
  expect(differences(open({ a: 1, b: { c: [2] } }), open({ b: { c: [2] }, a: 1 }))).toEqual([]);
});

test('each key is named by its path, with both values', () => {
  const before = { name: 'a', auto_scaler: { max_agents: 1, backend: { one: { size: 's' } } }, labels: { 'a b': 'x' } };
  const after = { name: 'a', auto_scaler: { max_agents: 2, backend: { two: { size: 's' } } }, labels: {} };

  expect(differences(open(before), open(after))).toEqual([
    { key: 'auto_scaler.max_agents', before: 1, after: 2 },
    { key: 'auto_scaler.backend.one.size', before: 's', after: undefined },
    { key: 'auto_scaler.backend.two.size', before: undefined, after: 's' },
    { key: 'labels["a b"]', before: 'x', after: undefined },
  ]);
});

test('lists of one length are compared item by item, others as wholes', () => {
  expect(differences(open({ l: [{ a: 1 }, 2] }), open({ l: [{ a: 3 }, 2] }))).toEqual([
    { key: 'l[0].a', before: 1, after: 3 },
  ]);
  expect(differences(open({ l: [1] }), open({ l: [1, 2] }))).toEqual([{ key: 'l', before: [1], after: [1, 2] }]);
});

test('what was added empty counts', () => {
  expect(differences(open({}), open({ backend: { process: {} } }))).toEqual([
    { key: 'backend.process', before: undefined, after: {} },
  ]);
});

test('a hidden value is named and not shown', () => {
  const before = { whole: { token: 'planted' }, shown: {} };
  const after = { whole: { token: 'planted too' }, shown: {} };

  expect(differences(before, after)).toEqual([{ key: 'token', before: undefined, after: undefined }]);
});

import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Section } from '#core/feature.ts';
import { readEnvironment } from './environment.ts';
import { knownKinds } from './kinds.ts';
import { readServerFile } from './server-file.ts';

const section: Section<unknown> = {
  key: 'shops',
  schema: () =>
    z
      .object({
        set: z.record(z.string(), z.object({ seats: z.int() })).default({}),
        usual: z.string().optional(),
        openFrom: z.int().min(0).default(8),
      })
      .prefault({}),
  variables: { set: { name: 'SHOPS_JSON', holds: 'json' }, usual: { name: 'USUAL_SHOP', holds: 'text' } },
};

const read = (file: string, variables: Record<string, string>) =>
  readServerFile(file, { kinds: knownKinds([], [section]), environment: readEnvironment(variables) });
const problemsOf = (file: string, variables: Record<string, string>) =>
  read(file, variables).problems?.map(({ path, message }) => `${path}: ${message}`);

test('variables hold a section that the file does not have, with comments', () => {
  const set = '{ // the set\n "a": {"seats": 5}, /* "b": {} */ "http://c": {"seats": 1} }';

  const { value } = read('agent_pools: []', { SHOPS_JSON: set, USUAL_SHOP: 'a' });

  expect(value?.sections.shops).toEqual({
    set: { a: { seats: 5 }, 'http://c': { seats: 1 } },
    usual: 'a',
    openFrom: 8,
  });
});

test('what is wrong there is named by variable, line and column', () => {
  expect(problemsOf('{}', { SHOPS_JSON: '{\n  "a": {"seets": 5}\n}' })).toEqual([
    'SHOPS_JSON:2:8 a.seats: is missing',
    'SHOPS_JSON:2:9 a.seets: is not a known key; did you mean seats?',
  ]);
  expect(problemsOf('{}', { SHOPS_JSON: '{\n  "a": {"seats": 5},\n  "b"\n' })?.[0]).toMatch(
    /^SHOPS_JSON:\d+:\d+: this is not JSON/,
  );
});

test('what variables hold and what the file says of the rest are one section', () => {
  const set = '{"a": {"seats": 5}}';
  const whole = { set: { a: { seats: 5 } }, usual: undefined, openFrom: 9 };

  expect(read('shops: {open_from: 9}', { SHOPS_JSON: set }).value?.sections.shops).toEqual(whole);
  expect(read('shops:\n', { SHOPS_JSON: set }).value?.sections.shops).toEqual({ ...whole, openFrom: 8 });
});

test('a mistake in the part of a section that the file has is reported once, with its place there', () => {
  const { problems } = read('shops: {open_from: -1}', { SHOPS_JSON: '{"a": {"seats": 5}}' });

  expect(problems).toEqual([expect.objectContaining({ path: 'shops.open_from', line: 1, column: 20 })]);
});

test('a section is refused where the file names what variables hold, also another part of that', () => {
  expect(problemsOf('shops: {usual: a}', { USUAL_SHOP: 'a' })).toEqual([
    'USUAL_SHOP: is set, and the file has shops.usual; keep one of them',
  ]);
  expect(problemsOf('shops: {open_from: 9, usual: a}', { SHOPS_JSON: '{"a": {"seats": 5}}' })).toEqual([
    'SHOPS_JSON: is set, and the file has shops.usual; keep one of them',
  ]);
});

test('an empty variable is no variable', () => {
  expect(read('shops: {usual: a}', { USUAL_SHOP: '' }).value?.sections.shops).toEqual({
    set: {},
    usual: 'a',
    openFrom: 8,
  });
});

import { expect, it } from 'vitest';
import { readEnvironment } from '#config/environment.ts';
import { knownKinds } from '#config/kinds.ts';
import { readServerFile } from '#config/server-file.ts';
import type { AnyFeature } from '#program/features.ts';
import budgets from './index.ts';

const { section } = budgets as unknown as AnyFeature;
const kinds = knownKinds([], section ? [section] : []);
const read = (file: string) => readServerFile(`budgets: ${file}`, { kinds, environment: readEnvironment({}) });

it('takes the budgets of a server file, one pattern or several', () => {
  const file =
    '[{name: ml, pools: "ml-*", per_hour: 120, per_month: 40000, then: stop}, {name: all, pools: [a, b], sources: team, per_hour: 0.5, then: warn}]';

  expect(read(file).value?.sections.budgets).toEqual([
    { name: 'ml', pools: ['ml-*'], perHour: 120, perMonth: 40_000, end: 'stop' },
    { name: 'all', pools: ['a', 'b'], sources: ['team'], perHour: 0.5, end: 'warn' },
  ]);
});

it.each([
  [
    '[{name: a, per_hour: 1, then: stop}, {name: a, per_hour: 2, then: warn}]',
    'budgets[1].name: is the name of budgets[0] too',
  ],
  ['[{name: a, then: stop}]', 'budgets[0].per_hour: is missing; a budget needs per_hour or per_month'],
  ['[{name: a, per_hour: 0, then: stop}]', 'budgets[0].per_hour: must be above 0'],
  ['[{name: a, per_hour: "$12", then: stop}]', 'budgets[0].per_hour: must be a number, not the text "$12"'],
  ['[{name: a, per_hour: 1}]', 'budgets[0].then: is missing'],
  ['[{name: a, per_hour: 1, then: stp}]', 'budgets[0].then: must be one of stop, warn; did you mean stop?'],
  [
    '[{name: a, per_houre: 1, per_month: 2, then: stop}]',
    'budgets[0].per_houre: is not a known key; did you mean per_hour?',
  ],
  [
    '[{name: "a b", per_hour: 1, then: stop}]',
    'budgets[0].name: must be letters, digits, dots, hyphens and underscores',
  ],
  ['{name: a}', 'budgets: must be a list, not a map of keys'],
])('refuses %s at its place', (file, problem) => {
  expect(read(file).problems?.map(({ path, message }) => `${path}: ${message}`)).toEqual([problem]);
});

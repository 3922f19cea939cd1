import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CORPUS } from '#gotemplate/corpus/cases.ts';
import { type GoOutcome, withDigests } from '#gotemplate/corpus/corpus-case.ts';
import { goTemplates } from './parts/gotemplate.ts';
import { needed } from './parts/part.ts';

const COMMITTED = join(import.meta.dirname, '../../src/gotemplate/corpus/outcomes.json');

test('Go still makes of every template in the corpus what npm test compares ours with', async (context) => {
  const go = needed(context, await goTemplates());
  const outcomes = JSON.parse(await go.render([], JSON.stringify(CORPUS))) as GoOutcome[];

  expect(withDigests(CORPUS, outcomes)).toEqual(JSON.parse(readFileSync(COMMITTED, 'utf8')));
  expect(outcomes.filter(({ stage }) => stage === 'panic')).toEqual([]);
});

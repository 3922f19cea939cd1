import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { CORPUS } from '#gotemplate/corpus/cases.ts';
import { type GoOutcome, SHARED, withDigests } from '#gotemplate/corpus/corpus-case.ts';
import { parseTemplates } from '#gotemplate/template-set.ts';
import { randomTemplate } from '#gotemplate/testing/random-templates.ts';
import { goTemplates } from './parts/gotemplate.ts';
import { needed } from './parts/part.ts';

const COMMITTED = join(import.meta.dirname, '../../src/gotemplate/corpus/outcomes.json');

test('Go still makes of every template in the corpus what npm test compares ours with', async (context) => {
  const go = needed(context, await goTemplates());
  const outcomes = JSON.parse(await go.render([], JSON.stringify(CORPUS))) as GoOutcome[];

  expect(withDigests(CORPUS, outcomes)).toEqual(JSON.parse(readFileSync(COMMITTED, 'utf8')));
  expect(outcomes.filter(({ stage }) => stage === 'panic')).toEqual([]);
});

/** What we make of a template: its text, nothing where it is refused, a word where it is too much for our limits. */
function ours(text: string): { readonly output?: string } | 'beyond limits' {
  try {
    return { output: parseTemplates([{ name: 't', text }]).render('t', SHARED) };
  } catch (thrown) {
    const { kind } = Fault.from(thrown);
    expect(kind).not.toBe('internal');
    return kind === 'quota' ? 'beyond limits' : {};
  }
}

test('random templates give the same as by Go, or are refused by both', async (context) => {
  const go = needed(context, await goTemplates());
  const seed = Number(process.env.MUSTER_SEED ?? 20_260_817);
  const texts = fc.sample(randomTemplate, { seed, numRuns: 5_000 });
  // What is beyond our limits would keep Go, which has none, at work for hours.
  const mine = texts
    .map((text) => ({ text, ours: ours(text) }))
    .filter((one): one is { text: string; ours: { output?: string } } => one.ours !== 'beyond limits');
  const cases = mine.map(({ text }, n) => ({ name: String(n), files: [{ name: 't', text }], data: SHARED }));
  const outcomes = JSON.parse(await go.render([], JSON.stringify(cases))) as GoOutcome[];
  const differing = mine
    .map((one, n) => ({ ...one, go: outcomes[n]?.output }))
    .filter((one) => one.ours.output !== one.go);

  expect(differing.slice(0, 5)).toEqual([]);
  expect(texts.length - mine.length).toBeLessThan(50);
});

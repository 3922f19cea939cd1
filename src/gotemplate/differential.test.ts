import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { CORPUS } from './corpus/cases.ts';
import { type CorpusCase, digestOf, type GoOutcome } from './corpus/corpus-case.ts';
import { parseTemplates } from './template-set.ts';

const outcomes = JSON.parse(readFileSync(join(import.meta.dirname, 'corpus/outcomes.json'), 'utf8')) as GoOutcome[];

/** Refused as by Go, but not in its words; each says why. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  '{{call .name}}': 'there are no functions in our data, so the message names none',
  '{{mustToDate "2006-01-02" "31/12/2017"}}': 'we do not say which part of the layout failed',
};

/** What we make of a case: its text, or the fault. */
function ours({ files, data, missingKey = 'default' }: CorpusCase): string | Fault {
  try {
    const options = { missingKey, clock: new VirtualClock(), random: (count: number) => new Uint8Array(count) };
    return parseTemplates(files, options).render(files[0]?.name ?? '', data as object);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Fault);
    return thrown as Fault;
  }
}

const byName = new Map(outcomes.map((outcome) => [outcome.name, outcome]));
const outcomeOf = (one: CorpusCase): GoOutcome => byName.get(one.name) as GoOutcome;
const rendered = CORPUS.filter((one) => outcomeOf(one)?.output !== undefined);
const refused = CORPUS.filter((one) => outcomeOf(one)?.error !== undefined);

test('the corpus is the one that Go has rendered, and large enough', () => {
  expect(outcomes.map(({ name, digest }) => [name, digest])).toEqual(CORPUS.map((one) => [one.name, digestOf(one)]));
  expect(byName.size).toBe(CORPUS.length);
  expect(rendered.length).toBeGreaterThan(400);
  expect(refused.length).toBeGreaterThan(150);
});

describe('what Go renders we render byte for byte', () => {
  test.each(rendered)('$name', (one) => {
    expect(ours(one)).toBe(outcomeOf(one).output);
  });
});

describe('what Go refuses we refuse, in its words and with the place', () => {
  test.each(refused)('$name', (one) => {
    const fault = ours(one);
    const [file] = one.files;

    expect(fault).toBeInstanceOf(Fault);
    if (!(fault instanceof Fault)) return;
    if (!Object.hasOwn(OTHER_WORDS, file?.text ?? '')) expect(fault.message).toBe(outcomeOf(one).error);
    expect(fault.at).toMatch(/^[\w.-]+:\d+:\d+$/);
  });
});

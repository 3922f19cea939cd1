import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { CORPUS } from './corpus/cases.ts';
import { SHARED } from './corpus/corpus-case.ts';
import { parseTemplates } from './template-set.ts';
import { randomTemplate } from './testing/random-templates.ts';

const LIMITS = { steps: 20_000, characters: 200_000 };

/** The text, or the kind of the fault; anything else that is thrown is a bug. */
function outcomeOf(text: string, files = [{ name: 't', text }]): string {
  try {
    parseTemplates(files, { limits: LIMITS }).render(files[0]?.name ?? '', SHARED);
    return 'rendered';
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind !== 'internal') return thrown.kind;
    throw thrown;
  }
}

test('random templates render, or end with a fault', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(randomTemplate, (text) => {
      const outcome = outcomeOf(text);
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }),
    { numRuns: 3_000, seed: 20_260_817 },
  );

  expect(seen.get('rendered')).toBeGreaterThan(100);
  expect(seen.get('invalid')).toBeGreaterThan(100);
});

/** One change of a text: a part cut out, doubled, or replaced by some of another. */
const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 0, max: 8 }),
  by: fc.constantFrom(
    '',
    '{{',
    '}}',
    '|',
    '(',
    ')',
    '"',
    '`',
    '.',
    '$',
    '\n',
    ' -}}',
    '{{- ',
    ':=',
    'end',
    'range',
    '%',
    '\\',
    '0',
    'é',
    '\u0000',
  ),
});

function mutated(text: string, changes: readonly { at: number; length: number; by: string }[]): string {
  return changes.reduce((now, { at, length, by }) => {
    const from = Math.floor(at * now.length);
    return now.slice(0, from) + by + now.slice(from + length);
  }, text);
}

test('templates of the corpus with parts changed render, or end with a fault', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CORPUS),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      ({ files }, changes) => {
        const [first, ...others] = files;
        if (first) outcomeOf('', [{ ...first, text: mutated(first.text, changes) }, ...others]);
      },
    ),
    { numRuns: 4_000, seed: 20_260_818 },
  );
});

import fc from 'fast-check';
import { knownFunctions } from '../functions/registry.ts';

// These give now for what is no date: nothing to compare.
const TIMELY = new Set(['date', 'dateInZone', 'date_in_zone', 'htmlDate', 'htmlDateInZone']);
// Go's order of these is random, and the messages that these give for what is no JSON or YAML are Go's own.
const UNEQUAL = new Set(['keys', 'values', 'fromJsonArray', 'fromYaml', 'fromYamlArray']);

const NAMES = Object.keys(knownFunctions({ clock: false, random: false }).known).filter(
  (name) => !TIMELY.has(name) && !UNEQUAL.has(name),
);

const operand = fc.constantFrom(
  ...[
    '.',
    '$',
    '.name',
    '.list',
    '.map',
    '.nested.one',
    '.missing',
    '.nothing',
    '.mixed',
    '1',
    '-3',
    '2.5',
    '0',
    '"a"',
    '""',
  ],
  ...[
    '"%d %s"',
    '"a,b"',
    'true',
    'nil',
    '.unicode',
    '.numbers',
    '"^a+$"',
    '`{{.name}}`',
    '99999',
    "'x'",
    '"2006-01-02"',
    '">=1.2"',
  ],
);
/** Calls of functions with whatever comes, nested and piped. */
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    operand,
    fc
      .tuple(fc.constantFrom(...NAMES), fc.array(tie('expression'), { maxLength: 4 }))
      .map(([name, operands]) => `(${[name, ...operands].join(' ')})`),
    fc
      .tuple(tie('expression'), fc.constantFrom(...NAMES), operand)
      .map(([from, name, extra]) => `(${from} | ${name} ${extra})`),
  ),
}));
/** Templates that parse; whether they render is another question. */
export const { template: randomTemplate } = fc.letrec<{ template: string }>((tie) => ({
  template: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('text', '\n  ', '{{/* c */}}', '{{- 1 -}}'),
    expression.map((one) => `{{ ${one} }}`),
    expression.map((one) => `{{ $x := ${one} }}{{ $x }}`),
    fc
      .tuple(fc.constantFrom('if', 'with', 'range', 'range $i, $e :='), expression, tie('template'), tie('template'))
      .map(([word, one, body, other]) => `{{ ${word} ${one} }}${body}{{ else }}${other}{{ end }}`),
    fc.tuple(tie('template'), tie('template')).map((both) => both.join('')),
  ),
}));

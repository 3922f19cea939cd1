import { describe, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { RenderLimits } from './limits.ts';
import { parseTemplates } from './template-set.ts';

const LIMITS: RenderLimits = { steps: 20_000, characters: 100_000, depth: 100 };

function refusal(text: string, data: object = {}): Fault {
  try {
    const output = parseTemplates([{ name: 't', text }], { limits: LIMITS, clock: new VirtualClock() }).render(
      't',
      data,
    );
    throw new Fault('internal', `It gave ${output.length} characters.`);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Fault);
    return thrown as Fault;
  }
}

const DOUBLES = '{{$s := "ab"}}{{range 60}}{{$s = print $s $s}}{{end}}';

describe('a template that would go on ends with a fault', () => {
  test.each([
    ['a loop over a large number', '{{range 1000000000}}{{end}}'],
    ['loops in loops', '{{range 500}}{{range 500}}{{end}}{{end}}'],
    ['a long list', '{{until 1000000000}}'],
    ['a long text', '{{repeat 1000000000 "x"}}'],
    ['a text that doubles', DOUBLES],
    ['a text that grows by replacing', '{{$s := repeat 1000 "a"}}{{range 9}}{{$s = replace "a" $s $s}}{{end}}'],
    ['a list that doubles', '{{$l := list 1}}{{range 60}}{{$l = concat $l $l}}{{end}}'],
    [
      'a list of lists that prints twice as much each time',
      '{{$l := list "abc"}}{{range 60}}{{$l = list $l $l}}{{end}}{{$l}}',
    ],
    ['the same as JSON', '{{$l := list "abc"}}{{range 60}}{{$l = list $l $l}}{{end}}{{toJson $l}}'],
    ['the same as YAML', '{{$l := list "abc"}}{{range 60}}{{$l = list $l $l}}{{end}}{{toYaml $l}}'],
    ['the same compared', '{{$l := list "abc"}}{{range 60}}{{$l = list $l $l}}{{end}}{{has $l (list (deepCopy $l))}}'],
    ['a list of one long text', '{{$s := repeat 50000 "x"}}{{join "" (list $s $s $s $s $s)}}'],
    ['a wide number', '{{printf "%900000d" 1}}'],
    ['a map that holds itself', '{{$d := dict}}{{$_ := set $d "d" $d}}{{$d}}'],
    ['a map that holds itself, as JSON', '{{$d := dict}}{{$_ := set $d "d" $d}}{{toJson $d}}'],
    ['a map that holds itself, copied', '{{$d := dict}}{{$_ := set $d "d" $d}}{{deepCopy $d}}'],
    ['a pattern with many repeats', '{{mustRegexMatch "(a{1,30}){1,30}$" (repeat 900 "a")}}'],
    ['a pattern on a long text', '{{regexFindAll "(a|aa)+$" (repeat 30000 "a") -1}}'],
    ['a long text, digested again and again', '{{$s := repeat 9000 "abc"}}{{range 100}}{{$d := sha256sum $s}}{{end}}'],
    ['texts read as YAML', '{{$s := repeat 900 "- a\\n"}}{{range 100}}{{$l := fromYamlArray $s}}{{end}}'],
    ['texts that are no JSON', '{{range 3000}}{{$m := fromJson "a"}}{{end}}'],
    ['times asked for', '{{range 3000}}{{$d := now}}{{end}}'],
    ['zones looked up', '{{range 3000}}{{$d := dateInZone "2006" 0 "Europe/Paris"}}{{end}}'],
    ['texts rendered in texts', '{{define "a"}}{{tpl "{{include \\"a\\" .}}" .}}{{end}}{{include "a" .}}'],
    ['a template that includes itself', '{{define "a"}}{{include "a" .}}{{end}}{{include "a" .}}'],
  ])('%s', (_, text) => {
    const { kind, message } = refusal(text);

    expect([kind, message]).toEqual(['quota', expect.stringMatching(/^The template .*\.$/)]);
  });

  test('a template that calls itself is refused in the words of Go', () => {
    const { message } = refusal('{{define "a"}}{{template "a"}}{{end}}{{template "a"}}');

    expect(message).toContain('exceeded maximum template depth (100)');
  });

  test.each([
    ['parentheses', `{{${'('.repeat(3_000)}1${')'.repeat(3_000)}}}`],
    ['branches', `${'{{if 1}}'.repeat(3_000)}${'{{end}}'.repeat(3_000)}`],
    ['else after else', `{{if 0}}${'{{else if 0}}'.repeat(3_000)}{{end}}`],
    ['groups of a pattern', `{{mustRegexMatch ${JSON.stringify(`${'('.repeat(3_000)}${')'.repeat(3_000)}`)} "a"}}`],
  ])('nesting of %s', (_, text) => {
    expect(refusal(text)).toMatchObject({ name: 'Fault' });
  });
});

test('a limit cannot be caught by functions that give nothing for what fails', () => {
  const { kind } = refusal(
    '{{$l := list 1}}{{range 60}}{{$l = list $l $l}}{{end}}{{fromJson (toJson $l)}}{{regexMatch "a" "b"}}',
  );

  expect(kind).toBe('quota');
});

test('a pattern that makes backtracking machines hang takes a few steps for each character', () => {
  const text = `{{regexMatch "^(a+)+$" (print (repeat 2000 "a") "b")}}`;

  expect(parseTemplates([{ name: 't', text }], { limits: LIMITS }).render('t', {})).toBe('false');
});

test('a layout of any length is refused before it becomes a pattern', () => {
  const { kind, message } = refusal('{{toDate (repeat 300 "1") "2020"}}');

  expect([kind, message]).toEqual(['unsupported', expect.stringContaining('more than 256 characters')]);
});

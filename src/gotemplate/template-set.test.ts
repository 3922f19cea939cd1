import { describe, expect, test } from 'vitest';
import { Fault } from '#core/fault.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { knownFunctions, THEMES } from './functions/registry.ts';
import { parseTemplates, type TemplateOptions } from './template-set.ts';
import { type Data, goFloat, goStruct, goTexts, goValue } from './value/data.ts';

const render = (text: string, data: Data = {}, options: TemplateOptions = {}): string =>
  parseTemplates([{ name: 't.yaml', text }], options).render('t.yaml', data);

function faultOf(act: () => unknown): Fault {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Fault('internal', 'It was not refused.');
}

describe('numbers of the data', () => {
  const SHOWN = '{{typeOf .n}} {{.n}}';

  test('one without a fraction is an int, any other a float64', () => {
    expect([render(SHOWN, { n: 3 }), render(SHOWN, { n: 3.5 }), render(SHOWN, { n: -0 })]).toEqual([
      'int 3',
      'float64 3.5',
      'int 0',
    ]);
  });

  test('all are float64 where the caller says so, as encoding/json has them', () => {
    expect(render(SHOWN, { n: 3_000_000 }, { numbers: 'float64' })).toBe('float64 3e+06');
  });

  test('a bigint is an int64, and a whole number can be made a float64', () => {
    expect(render(SHOWN, { n: 2n ** 62n })).toBe('int64 4611686018427387904');
    expect(render(SHOWN, { n: goFloat(2) })).toBe('float64 2');
  });

  test('one that JSON cannot hold is refused', () => {
    expect(faultOf(() => render(SHOWN, { n: Number.NaN })).kind).toBe('invalid');
  });
});

describe('a struct of the data', () => {
  const data = goStruct('Data', {
    Size: 3,
    Names: goStruct('Names', { Web: 'w', App: 'a' }),
    Texts: goTexts({ b: '2' }),
  });

  test('gives its fields, and prints as Go prints it', () => {
    expect(render('{{.Size}} {{.Names.Web}} {{$.Names}} {{toJson .Names}} {{toYaml .Names}}', data)).toBe(
      '3 w {w a} {"Web":"w","App":"a"} App: a\nWeb: w',
    );
    expect(render('{{printf "%v" .Names}} {{kindOf .}} {{typeOf .Names}} {{.Texts}} {{typeOf .Texts}}', data)).toBe(
      '{w a} struct Names map[b:2] map[string]string',
    );
  });

  test.each([
    '{{.Siz}}',
    '{{.Siz | quote}}',
    '{{if .Siz}}a{{end}}',
    '{{.Names.Pod | default "x"}}',
    '{{range .}}a{{end}}',
    '{{get . "Size"}}',
    '{{hasKey .Names "Web"}}',
    '{{index . "Size"}}',
    '{{len .}}',
    '{{hasKey .Texts "b"}}',
    '{{.Size 3}}',
  ])('refuses what Go refuses: %s', (text) => {
    expect(faultOf(() => render(text, data)).kind).toBe('invalid');
  });
});

test('rendering does not change the data, unless they are Go values already', () => {
  const text = '{{$_ := set .map "b" 2}}{{.map}}';
  const data = { map: { a: 1 } };
  const values = goValue(data) as object;

  expect([render(text, data), render(text, data)]).toEqual(['map[a:1 b:2]', 'map[a:1 b:2]']);
  expect(data).toEqual({ map: { a: 1 } });
  expect([render(text, values), render('{{.map}}', values)]).toEqual(['map[a:1 b:2]', 'map[a:1 b:2]']);
});

test('a fault names the file, the line and the column, in the words of Go', () => {
  const parsing = faultOf(() => render('a\n  {{ .x | nosuch }}'));
  const rendering = faultOf(() => render('a\n  {{ .x.y }}', { x: 5 }));

  expect([parsing.at, parsing.message]).toEqual(['t.yaml:2:11', 'template: t.yaml:2: function "nosuch" not defined']);
  expect(rendering.at).toBe('t.yaml:2:8');
  expect(rendering.message).toContain(`at <.x.y>: can't evaluate field y in type interface {}`);
});

test('a fault in an included template names the place in that template', () => {
  const files = [
    { name: 'main', text: '\n{{ include "part" . }}' },
    { name: 'part', text: 'x\ny {{ fail "stop" }}' },
  ];

  expect(faultOf(() => parseTemplates(files).render('main', {})).at).toBe('part:2:6');
});

describe('functions that are not there', () => {
  test.each([
    ['env', '{{env "HOME"}}', 'do not read the machine'],
    ['genCA', '{{genCA "x" 365}}', 'hand it in as data'],
    ['now', '{{now}}', 'no clock'],
    ['randAlphaNum', '{{randAlphaNum 5}}', 'no random values'],
  ])('%s is refused when the template is parsed, even where it would not be reached', (name, text, remedy) => {
    const fault = faultOf(() => parseTemplates([{ name: 't', text: `{{if false}}${text}{{end}}` }]));

    expect(fault.message).toBe(`template: t:1: function "${name}" not defined`);
    expect(fault.remedy).toContain(remedy);
  });

  test('names that every object has are no functions', () => {
    expect(faultOf(() => render('{{constructor}}')).message).toContain('function "constructor" not defined');
    expect(render('{{.constructor}} {{.__proto__}} {{.toString}}', {})).toBe('<no value> <no value> <no value>');
    expect(render('{{(dict "a" 1).hasOwnProperty}}')).toBe('<no value>');
  });
});

test('with a clock, dates are those of the clock, in UTC', () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 31, 23, 59, 58));
  const text =
    '{{now | date "2006-01-02 15:04:05 MST"}} {{now.Year}} {{ago 1769903990}} {{now | dateModify "2s" | htmlDate}} {{date "15h" nil}}';

  expect(render(text, {}, { clock })).toBe('2026-01-31 23:59:58 UTC 2026 8s 2026-02-01 23h');
});

test('with a source of random bytes, random values come from it', () => {
  const random = (count: number): Uint8Array => new Uint8Array(count).fill(7);
  const text =
    '{{randAlphaNum 3}} {{randNumeric 2}} {{uuidv4}} {{randBytes 3}} {{shuffle "abc" | len}} {{randInt 5 6}}';

  expect(render(text, {}, { random })).toMatch(/^(\w)\1\1 (\d)\2 07070707-0707-4707-8707-070707070707 BwcH 3 5$/);
});

test('a text that is cut within a character can be measured, but not given out', () => {
  expect(render('{{trunc 1 "é" | len}} {{trunc 1 "é" | quote}} {{trunc 1 "é" | b64enc}}')).toBe('1 "\\xc3" ww==');
  expect(faultOf(() => render('{{trunc 1 "é"}}')).message).toContain('not valid UTF-8');
});

test('templates see each other by name, later definitions replace earlier ones', () => {
  const set = parseTemplates([
    { name: 'a', text: '{{template "x"}}' },
    { name: 'b', text: '{{define "x"}}1{{end}}' },
    { name: 'c', text: '{{define "x"}}2{{end}}' },
  ]);

  expect(set.names).toEqual(['a', 'x', 'b', 'c']);
  expect(set.render('a', {})).toBe('2');
  expect(faultOf(() => set.render('d', {})).kind).toBe('missing');
});

test('keys and values come in the order of the keys, where Go has none', () => {
  expect(render('{{keys .}} {{values .}}', { b: 2, a: 1, c: 3 })).toBe('[a b c] [1 2 3]');
});

test('constructs that we do not have are refused by name', () => {
  expect(faultOf(() => render('{{1i}}')).message).toContain('complex constant "1i" is not supported');
  expect(faultOf(() => render('{{dateInZone "MST" 0 "Europe/Berlin"}}')).kind).toBe('unsupported');
});

test('of the functions that Helm 3 adds to Sprig or replaces, exactly the three that the page names are unknown', () => {
  // The function map of helm.sh/helm/v3 3.21, pkg/engine/funcs.go.
  const names = ['toToml', 'fromToml', 'toYaml', 'toYamlPretty', 'fromYaml', 'fromYamlArray', 'toJson', 'fromJson'];
  const all = [...names, 'fromJsonArray', 'include', 'tpl', 'required', 'lookup'];
  const { known } = knownFunctions({ clock: true, random: true });

  expect(all.filter((name) => !Object.hasOwn(known, name))).toEqual(['toToml', 'fromToml', 'toYamlPretty']);
  expect(Object.keys(THEMES.Helm ?? {}).filter((name) => !all.includes(name))).toEqual([]);
});

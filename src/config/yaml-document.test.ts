import { describe, expect, it } from 'vitest';
import { plain } from './tree.ts';
import { FOREIGN_LIMITS, readYaml } from './yaml-document.ts';

const contentOf = (text: string): unknown => {
  const { value, problems } = readYaml(text);
  return value ? plain(value) : problems;
};

describe('readYaml', () => {
  it.each([
    ['YAML', 'a: 1\nb: [x, true, null]\n', { a: 1, b: ['x', true, null] }],
    ['JSON', '{"a": 1, "b": ["x", true, null]}', { a: 1, b: ['x', true, null] }],
    ['JSON indented by tabs', '{\n\t"a": {\n\t\t"b": "\\u00e9\\/"\n\t}\n}\n', { a: { b: 'é/' } }],
    ['a byte order mark and Windows line ends', '\uFEFFa: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
    ['number keys as texts', '8080: web\n', { 8080: 'web' }],
    ['words of YAML 1.1 as texts', 'a: yes\nb: on\nc: 0777\n', { a: 'yes', b: 'on', c: 777 }],
    [
      'anchors and merge keys',
      'd: &d {x: 1, y: 2}\na:\n  <<: *d\n  y: 3\nb: *d\n',
      { d: { x: 1, y: 2 }, a: { y: 3, x: 1 }, b: { x: 1, y: 2 } },
    ],
    ['markers with nothing between or behind them', '---\n---\na: 1\n...\n---\n', { a: 1 }],
    ['an empty text', '', null],
    ['a text of comments', '# nothing\n', null],
  ])('reads %s', (_, text, value) => {
    expect(contentOf(text)).toEqual(value);
  });

  it('knows where everything stands', () => {
    const { value } = readYaml('a:\n  bc:  word\n');

    const a = value?.is === 'map' ? value.entries[0]?.value : undefined;
    const bc = a?.is === 'map' ? a.entries[0] : undefined;
    expect(bc).toMatchObject({ key: 'bc', place: { line: 2, column: 3 }, value: { place: { line: 2, column: 8 } } });
  });

  it.each([
    [
      'a key that stands twice',
      'a: 1\nb:\n  c: 1\n  c: 2\n',
      { path: 'b.c', line: 4, column: 3, message: expect.stringMatching('second time') },
    ],
    [
      'the same in JSON',
      '{"a": 1, "a": 2}',
      { path: 'a', line: 1, column: 10, message: expect.stringMatching('second time') },
    ],
    ['two documents', 'a: 1\n---\nb: 2\n', { path: '', line: 2, message: expect.stringMatching('second document') }],
    ['broken YAML', 'a: [1, 2\nb: 3\n', { path: '', line: 2, message: expect.stringMatching('not YAML') }],
    ['a tag', 'a: !secret x\n', { path: '', line: 1, message: expect.stringMatching('tag') }],
    ['binary values', 'a: !!binary aGk=\n', { path: 'a', message: expect.stringMatching('must be text') }],
    ['an alias of nothing', 'a: *b\n', { message: expect.stringMatching('b') }],
    ['an alias of itself', 'a: &a [*a]\n', { path: 'a[0]', message: expect.stringMatching('no complete anchor') }],
    [
      'a merge of no map',
      'a: &a [1]\nb:\n  <<: *a\n',
      { path: 'b["<<"]', message: expect.stringMatching('alias of a map') },
    ],
    ['keys that are lists', '? [a]\n: b\n', { message: expect.stringMatching('plain text') }],
    [
      'the key __proto__',
      '{"__proto__": {"polluted": true}}',
      { path: '__proto__', message: expect.stringMatching('cannot be a key') },
    ],
    ['bytes that are no text', 'a: \u0000\u0001', { path: '', message: expect.stringMatching('U\\+0000') }],
    ['half a surrogate pair', 'a: \ud800', { message: expect.stringMatching('U\\+d800') }],
    ['deep lists', `a: ${'['.repeat(70)}${']'.repeat(70)}`, { message: expect.stringMatching('deeper than 64') }],
    ['bottomless lists', '['.repeat(100_000), { path: '' }],
    [
      'too much of it',
      `a: ${'x'.repeat(FOREIGN_LIMITS.bytes)}`,
      { path: '', message: expect.stringMatching('larger than 256 KiB') },
    ],
  ])('refuses %s and says where', (_, text, problem) => {
    const { problems } = readYaml(text, FOREIGN_LIMITS);

    expect(problems?.[0]).toMatchObject(problem);
  });

  it('refuses aliases that would unfold into billions of values', () => {
    const layers = Array.from(
      { length: 9 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
    );
    const laughs = ['l0: &l0 [lol, lol, lol]', ...layers].join('\n');

    const { problems } = readYaml(laughs);

    expect(problems?.[0]?.message).toMatch('aliases expand');
  });

  it('tells of every doubled key at once', () => {
    const { problems } = readYaml('a: 1\na: 2\nb: 1\nb: 2\n');

    expect(problems?.map(({ path }) => path)).toEqual(['a', 'b']);
  });
});

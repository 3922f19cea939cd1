import { describe, expect, it } from 'vitest';
import type { OutputLine } from '../../api/wire/session.ts';
import { NOW } from '../testing/now.ts';
import { type OutputText, openOutputText } from './output-text.ts';

type Written = string | Uint8Array;

let seq = 0;
const piece = (data: Written, more: Partial<OutputLine> = {}): OutputLine => ({
  seq: ++seq,
  attempt: 1,
  stream: 'stdout',
  at: NOW,
  data: Buffer.from(data).toString('base64'),
  ...more,
});

const runsOf = (text: OutputText) => text.blocks().flatMap(({ runs }) => runs);
const textOf = (...pieces: readonly OutputLine[]) => {
  const text = openOutputText();
  for (const one of pieces) text.add([one]);
  return runsOf(text).map((run) => (run.stream === 'stderr' ? `err ${run.text}` : run.text));
};

describe('the lines of an output', () => {
  it.each([
    [['a\nb\n'], 'a\nb'],
    [['a', 'b\n', 'c'], 'ab\nc'],
    [['a\r', '\nb'], 'a\nb'],
    [['10%\r20%\r', 'done\n'], '10%\r\n20%\r\ndone'],
    [['a\n\n', '\nb'], 'a\n\n\nb'],
    [['\n'], ''],
  ])('%j are the same wherever pieces are cut', (pieces, lines) => {
    expect(textOf(...pieces.map((one) => piece(one)))).toEqual([lines]);
  });

  it('hold each letter once, also where a piece ends within it', () => {
    const bytes = Buffer.from('zwölf €\n');
    expect(textOf(...Array.from(bytes, (byte) => piece(Uint8Array.of(byte))))).toEqual(['zwölf €']);
    expect(textOf(piece(Uint8Array.of(0x61, 0xff, 0x62)))).toEqual(['a�b']);
  });

  it('stand apart by stream, also where one stream ends a letter of its own after the other', () => {
    const [first = 0, ...rest] = Buffer.from('é');
    expect(
      textOf(
        piece('a\n'),
        piece(Uint8Array.of(first)),
        piece('wrong\n', { stream: 'stderr' }),
        piece(Uint8Array.of(...rest)),
      ),
    ).toEqual(['a', 'err wrong', 'é']);
  });

  it('end where the other stream writes in the middle of one', () => {
    expect(textOf(piece('prompt> '), piece('wrong\n', { stream: 'stderr' }), piece('rest\n'))).toEqual([
      'prompt> ',
      'err wrong',
      'rest',
    ]);
  });

  it('stand apart by attempt', () => {
    const text = openOutputText();
    text.add([piece('one'), piece('two', { attempt: 2 })]);
    expect(runsOf(text).map(({ attempt, text: own }) => [attempt, own])).toEqual([
      [1, 'one'],
      [2, 'two'],
    ]);
  });

  it('go on in another row where they are very long, and no row is empty for that', () => {
    const [run = ''] = textOf(piece('x'.repeat(4_000)), piece('\n'), piece(`${'y'.repeat(9_000)}\nz`));
    expect(run.split('\n').map((line) => line.length)).toEqual([4_000, 4_000, 4_000, 1_000, 1]);
  });
});

describe('the blocks of an output', () => {
  it('stay the same objects once they are full', () => {
    const text = openOutputText();
    text.add([piece('line\n'.repeat(250))]);
    const [first, second, third] = text.blocks();
    text.add([piece('more\n')]);

    const later = text.blocks();
    expect([later[0] === first, later[1] === second, later[2] === third]).toEqual([true, true, false]);
    expect(later[2]?.runs[0]?.text.split('\n')).toHaveLength(51);
    expect(later[2]?.id).toBe(third?.id);
  });

  it('are dropped from the beginning beyond what a page can keep, by lines and by letters', () => {
    const byLines = openOutputText();
    for (let part = 0; part < 300; part++) byLines.add([piece(`${part}\n`.repeat(100))]);
    expect([byLines.blocks().length, byLines.isCutBefore()]).toEqual([200, true]);
    expect(runsOf(byLines).at(-1)?.text.startsWith('299\n')).toBe(true);

    const byLetters = openOutputText();
    for (let part = 0; part < 30; part++) byLetters.add([piece(`${'x'.repeat(2_000)}\n`.repeat(100))]);
    const letters = runsOf(byLetters).reduce((sum, { text }) => sum + text.length, 0);
    expect(letters).toBeLessThanOrEqual(4_100_000);
    expect(byLetters.isCutBefore()).toBe(true);

    expect(openOutputText().isCutBefore()).toBe(false);
  });
});

import { expect, it } from 'vitest';
import { visiblePieces } from './visible-text.ts';

const shown = (text: string): string =>
  visiblePieces(text)
    .map((piece) => (piece.isControl ? `{${piece.text}}` : piece.text))
    .join('');

it.each([
  ['plain text,\ttabs and\nlines', 'plain text,\ttabs and\nlines'],
  ['\x1b[1;31mred\x1b[0m', '{^[[1;31m}red{^[[0m}'],
  ['\x1b[?1049h\x1b[2J', '{^[[?1049h}{^[[2J}'],
  ['\x1b]52;c;cm0gLXJm\x07x', '{^[]52;c;cm0gLXJm^G}x'],
  ['\x1b]8;;http://a\x1b\\x', '{^[]8;;http://a^[\\}x'],
  ['a\rb\x08c\x00\x7f', 'a{^M}b{^H}c{^@}{^?}'],
  ['abc\u202edcba', 'abc{<U+202E>}dcba'],
  ['a\u200bb\ufeff\u009b31m', 'a{<U+200B>}b{<U+FEFF>}{<U+009B>}31m'],
  ['\x1b', '{^[}'],
  ['👩‍👩‍👧 می‌خواهم', '👩‍👩‍👧 می‌خواهم'],
])('%j shows each character that would not be seen', (text, expected) => {
  expect(shown(text)).toBe(expected);
});

it('no control character is left, whatever the text', () => {
  const all = Array.from({ length: 0x30_00 }, (_, code) => String.fromCodePoint(code)).join('');
  const left = visiblePieces(`${all}\x1b[${all}\x1b]${all}`).map(({ text }) => text);

  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(left.join('')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
});

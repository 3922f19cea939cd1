import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from './record-session.ts';
import { terminalPicture } from './terminal-picture.ts';

const shownIn = (picture: string): string[] =>
  [...picture.matchAll(/<text class="([^"]*)"[^>]*>([^<]*)</g)].map(
    ([, kind, text]) => `${kind?.includes('command') ? '>' : ' '}${text}`,
  );

test('lines appear in the order in which they were printed, and a long wait is shortened', () => {
  const picture = terminalPicture('x', [
    { command: 'a', printed: [{ afterMs: 10, text: 'one\ntwo\n' }] },
    { command: 'b', printed: [{ afterMs: 3_600_000, text: 'three\n' }] },
  ]);
  const appearance = [...picture.matchAll(/@keyframes a\d+\{0%,([\d.]+)%/g)].map(([, at]) => Number(at));

  expect(shownIn(picture)).toEqual(['>$ a', ' one', ' two', '>$ b', ' three']);
  expect(appearance).toEqual([...appearance].sort((a, b) => a - b));
  expect(Number(/scroll (\d+)ms/.exec(picture)?.[1])).toBeLessThan(20_000);
});

test('what a command prints is text, never markup, and too long a line is cut', () => {
  const picture = terminalPicture('<x>', [
    { command: 'a', printed: [{ afterMs: 0, text: `</text>&${'x'.repeat(200)}` }] },
  ]);

  expect(picture).not.toContain('</text>&x');
  expect(picture).toContain('&lt;/text&gt;&amp;');
  expect(shownIn(picture)[1]).toMatch(/x…$/);
});

test('the picture in the README shows the commands of the script that records it', () => {
  const picture = readFileSync(join(import.meta.dirname, '../docs/pictures/session.svg'), 'utf8');
  const nothing = terminalPicture(
    'x',
    COMMANDS.map((command) => ({ command, printed: [] })),
  );
  const commands = shownIn(picture).filter((line) => line.startsWith('>'));

  expect(commands).toEqual(shownIn(nothing));
});

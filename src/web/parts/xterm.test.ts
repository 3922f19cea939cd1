import { Terminal } from '@xterm/xterm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { onTyped, openLink } from './xterm.ts';

const ESC = '\x1b';
const letters = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));

/** Every sequence that a program can print, with the numbers by which terminals are asked something. */
function allSequences(): readonly string[] {
  const finals = letters(0x40, 0x7e);
  const intermediates = ['', ...letters(0x20, 0x2f)];
  const numbers = ['', '0', '1', '2', '5', '6', '11', '13', '14', '15', '16', '18', '19', '20', '21', '25', '26'];
  const modes = ['1000', '1004', '1005', '1006', '1015', '1016', '2004', '2026', '2031', '996', '2;1', '4;5'];
  const csi = ['', '?', '>', '=', '<'].flatMap((prefix) =>
    [...numbers, ...modes].flatMap((number) =>
      intermediates.flatMap((middle) => finals.map((final) => `${ESC}[${prefix}${number}${middle}${final}`)),
    ),
  );
  const escapes = intermediates.flatMap((middle) => letters(0x30, 0x7e).map((final) => `${ESC}${middle}${final}`));
  const osc = Array.from({ length: 200 }, (_, code) => [`${ESC}]${code};?\x07`, `${ESC}]${code};c;?${ESC}\\`]).flat();
  const dcs = ['', '$', '+', '?'].flatMap((middle) =>
    finals.flatMap((final) =>
      ['m', 'r', '"p', '"q', ' q', 's', '544e'].map((what) => `${ESC}P${middle}${final}${what}${ESC}\\`),
    ),
  );
  return [...csi, ...escapes, ...osc, ...dcs, ...letters(0, 0x1a)];
}

/** A terminal before a page, and what would be sent as typed. */
function aTerminal() {
  const terminal = new Terminal({ logLevel: 'off' });
  const typed: string[] = [];
  return { terminal, typed, write: (text: string) => new Promise<void>((done) => terminal.write(text, done)) };
}

describe('a terminal', () => {
  it('types nothing, whatever a program prints', async () => {
    const { terminal, typed, write } = aTerminal();
    onTyped(terminal, (text) => void typed.push(text));
    // A sequence that never ends would hide those behind it.
    for (const sequence of allSequences()) void write(`${sequence}${ESC}\\`);
    await write(`${ESC}c`);

    expect(typed).toEqual([]);
  });

  it('types what its user types', () => {
    const { terminal, typed } = aTerminal();
    onTyped(terminal, (text) => void typed.push(text));
    terminal.input('ls\r');

    expect(typed).toEqual(['ls\r']);
  });
});

describe('a link in a terminal', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    ['https://example.org/a', true],
    ['HTTP://example.org', true],
    ['javascript:alert(1)', false],
    ['data:text/html,x', false],
    ['file:///etc/passwd', false],
    ['/settings', false],
    [' https://example.org', false],
  ])('to %s is opened: %s, and knows nothing of the page', (address, isOpened) => {
    const opened: unknown[] = [];
    vi.stubGlobal('open', (...how: unknown[]) => opened.push(how));
    openLink(address);

    expect(opened).toEqual(isOpened ? [[address, '_blank', 'noopener,noreferrer']] : []);
  });
});

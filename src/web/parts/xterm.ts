// The one file that loads xterm: a chunk of its own.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import type { BrowserClock } from '../live/clock.ts';
import type { Connection } from '../live/connection.ts';
import { attach } from './attachment.ts';

export interface ConnectedTerminal {
  close(): void;
}

/**
 * What a program prints may ask the terminal for its name, its position, its colours or its title, and the answer would
 * be typed into the program as if the user had done so. These are taken and never answered.
 */
const QUERIES = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { final: 'x' },
  { final: 't' },
  { prefix: '>', final: 'q' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { prefix: '?', final: 'u' },
] as const;
const SETTING_QUERY = { intermediates: '$', final: 'q' } as const;
/** Colours, which one can also ask for, and the clipboard. */
const QUERIED_BY_OSC = [4, 10, 11, 12, 52, 104, 110, 111, 112] as const;
/** Whether the terminal has the focus: sent as soon as a program asks for it. */
const FOCUS_REPORTS: ReadonlySet<string> = new Set(['\x1b[I', '\x1b[O']);

/** What the user types in a terminal, and nothing that a program makes it say. */
export function onTyped(terminal: Pick<Terminal, 'parser' | 'onData'>, take: (text: string) => void): void {
  const { parser } = terminal;
  for (const id of QUERIES) parser.registerCsiHandler(id, () => true);
  parser.registerDcsHandler(SETTING_QUERY, () => true);
  for (const code of QUERIED_BY_OSC) parser.registerOscHandler(code, () => true);
  terminal.onData((text) => {
    if (!FOCUS_REPORTS.has(text)) take(text);
  });
}

/** Opens links to the web alone, in a page that knows nothing of this one. */
export function openLink(address: string): void {
  if (/^https?:\/\//i.test(address)) open(address, '_blank', 'noopener,noreferrer');
}

const base64Of = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);

export interface TerminalOptions {
  readonly session: string;
  readonly clock: BrowserClock;
  readonly connection: Connection;
  /** What to tell the user of the connection; undefined: it is there. */
  readonly say: (text: string | undefined) => void;
}

/** Shows the terminal of a session in that element. */
export function openTerminal(
  element: HTMLElement,
  { session, clock, connection, say }: TerminalOptions,
): ConnectedTerminal {
  const terminal = new Terminal({
    fontFamily: colour('--mono'),
    fontSize: 13,
    scrollback: 5_000,
    screenReaderMode: true,
    theme: { background: '#191d24', foreground: '#eceef2', cursor: '#82adff' },
    linkHandler: { activate: (_event, address) => openLink(address) },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  fit.fit();
  // What is typed while there is no connection would be lost: it is not taken.
  const setConnected = (is: boolean): void => {
    terminal.options.disableStdin = !is;
  };
  const address = (path: string): string => new URL(path, location.href).href.replace(/^http/, 'ws');
  const attachment = attach(
    session,
    { open: (path) => new WebSocket(address(path)), clock, connection },
    {
      connected() {
        setConnected(true);
        say(undefined);
        resize();
        terminal.focus();
      },
      output: (bytes) => terminal.write(bytes),
      lost() {
        setConnected(false);
        say('The connection is lost. It is opened again by itself.');
      },
      ended(why) {
        setConnected(false);
        say(why);
      },
    },
  );
  function resize(): void {
    attachment.send({ resize: { columns: terminal.cols, rows: terminal.rows } });
  }
  onTyped(terminal, (text) => attachment.send({ input: base64Of(text) }));
  terminal.onResize(resize);
  terminal.attachCustomKeyEventHandler(({ key, ctrlKey, shiftKey }) => {
    const isLeaving = key === 'Escape' && ctrlKey && shiftKey;
    if (isLeaving) terminal.blur();
    return !isLeaving;
  });
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(element);
  return {
    close() {
      resized.disconnect();
      attachment.close();
      terminal.dispose();
    },
  };
}
